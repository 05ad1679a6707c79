"""Other programs' interfaces: trec_eval's command line, pytrec_eval's API. Their quirks live here and nowhere else."""
