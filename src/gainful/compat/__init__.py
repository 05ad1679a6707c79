"""Other programs' interfaces: trec_eval's command line, pytrec_eval's API, measures for ir_measures.

Their quirks live here and nowhere else.
"""
