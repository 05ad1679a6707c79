"""An example of each command, shown below its help and in the reference; a test runs them all, in this order."""

from __future__ import annotations

EXAMPLES = {
    "evaluate": "gainful evaluate qrels.txt runs/ -m nDCG@10 -m nDCGf@10",
    "compare": "gainful compare qrels.txt runs/ -m nDCG@10 --baseline bm25",
    "explain": "gainful explain qrels.txt runs/bm25.txt --query 101 -m nDCGf@10",
    "trec_eval": "gainful trec_eval -q -m ndcg_cut.10 qrels.txt runs/bm25.txt",
    "reliability": "gainful reliability qrels.txt runs/ -m nDCG@10 -m AP",
    "stability": "gainful stability qrels.txt runs/ -m nDCG@10 --chart stability.svg",
    "sensitivity": "gainful sensitivity qrels.txt runs/ -m nDCG@10 -m P@10",
    "robustness": "gainful robustness qrels.txt runs/ -m bpref -m nDCG@100",
    "boundedness": "gainful boundedness qrels.txt runs/ --cutoff 5,20",
    "agreement": "gainful agreement qrels.txt runs/ -m nDCG@10 -m AP -m RR",
    "topics": "gainful topics qrels.txt runs/ -m nDCG@10 --difference 0.05",
    "optimize": "gainful optimize qrels.txt runs/ --cutoff 10 --save best.json",
    "threshold fit": "gainful threshold fit qrels.txt runs/bm25.txt --save cut.json",
    "threshold apply": "gainful threshold apply runs/bm25.txt --cut cut.json -o shown.txt",
    "threshold curve": "gainful threshold curve qrels.txt runs/bm25.txt --chart curve.svg",
    "ltrf train": "gainful ltrf train answers.csv --loss ordinal --save ranker",
    "ltrf score": "gainful ltrf score ranker new.csv -o filtered.txt",
    "ltrf compare": "gainful ltrf compare answers.csv --losses bce,ordinal --chart loss.svg",
    "ltrf tune": "gainful ltrf tune answers.csv --loss ordinal --trials 5 --save tuned",
    "study negative-labels": "gainful study negative-labels qrels.txt runs/ --chart labels.svg",
    "study gain-discount": "gainful study gain-discount qrels.txt runs/ --discount-cutoffs 10,20",
    "study incomplete-judgments": "gainful study incomplete-judgments qrels.txt runs/ --trials 5",
    "study forbidden-documents": "gainful study forbidden-documents qrels.txt runs/ --cutoff 50",
    "report": "gainful report qrels.txt runs/ -m nDCG@10 -m nDCGf@10 -o report.html",
    "measures": "gainful measures nDCG",
    "simulate": "gainful simulate track --topics 25 --systems 12 --seed 7",
    "demo": "gainful demo tour",
}


def epilogue(command: str) -> str | None:
    """What the help of a command ends with."""
    return f"Example: {EXAMPLES[command]}" if command in EXAMPLES else None
