"""Interfaces of others and their quirks: trec_eval's command line, pytrec_eval's API, measures for ir_measures."""
