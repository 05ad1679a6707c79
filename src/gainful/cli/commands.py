"""Which function is which command: all that the command line adds to the library, in one table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command.

    Parameters
    ----------
    function
        What it calls, as module:name; its signature and docstring are the command's.
    example
        Shown below its help and in the reference; a test runs them all, in this order.
    special
        Where the command does more than call the function and print its result: module:name of a function that takes
        a `Call` and options of its own.
    saves
        What --save writes, if the result can be saved.
    check_save
        What refuses, before any work, a place to save to: module:name.
    prints
        Whether there is a result to print; else the shell says what it has done.
    """

    function: str
    example: str
    special: str | None = None
    saves: str | None = None
    check_save: str | None = None
    prints: bool = True


COMMANDS = {
    "evaluate": Command(
        function="gainful.verbs.evaluate:evaluate",
        special="gainful.cli.evaluate:evaluate",
        example="gainful evaluate qrels.txt runs/ -m nDCG@10 -m nDCGf@10",
    ),
    "compare": Command(
        function="gainful.verbs.compare:compare",
        special="gainful.cli.compare:compare",
        example="gainful compare qrels.txt runs/ -m nDCG@10 --baseline bm25",
    ),
    "explain": Command(
        function="gainful.verbs.explain:explain",
        special="gainful.cli.explain:explain",
        example="gainful explain qrels.txt runs/bm25.txt --topic 101 -m nDCGf@10",
    ),
    "trec_eval": Command(
        function="gainful.cli.trec_eval:trec_eval",
        example="gainful trec_eval -q -m ndcg_cut.10 qrels.txt runs/bm25.txt",
    ),
    "reliability": Command(
        function="gainful.analyses.reliability:reliability",
        example="gainful reliability qrels.txt runs/ -m nDCG@10 -m AP",
    ),
    "stability": Command(
        function="gainful.analyses.stability:stability",
        example="gainful stability qrels.txt runs/ -m nDCG@10 --chart stability.svg",
    ),
    "sensitivity": Command(
        function="gainful.analyses.sensitivity:sensitivity",
        example="gainful sensitivity qrels.txt runs/ -m nDCG@10 -m P@10",
    ),
    "robustness": Command(
        function="gainful.analyses.robustness:robustness",
        example="gainful robustness qrels.txt runs/ -m bpref -m nDCG@100",
    ),
    "boundedness": Command(
        function="gainful.analyses.boundedness:boundedness",
        example="gainful boundedness qrels.txt runs/ --cutoff 5,20",
    ),
    "agreement": Command(
        function="gainful.analyses.agreement:agreement",
        example="gainful agreement qrels.txt runs/ -m nDCG@10 -m AP -m RR",
    ),
    "topics": Command(
        function="gainful.analyses.topics:topics",
        example="gainful topics qrels.txt runs/ -m nDCG@10 --difference 0.05",
    ),
    "optimize": Command(
        function="gainful.tune.optimize:optimize",
        example="gainful optimize qrels.txt runs/ --cutoff 10 --save best.json",
        check_save="gainful.tune.optimize:check_save",
        saves="the optimal measure, as .json: 'gainful evaluate -m @FILE' takes it",
    ),
    "threshold fit": Command(
        function="gainful.tune.threshold:fit",
        example="gainful threshold fit qrels.txt runs/bm25.txt --save cut.json",
        saves="the threshold, as JSON, for 'gainful threshold apply --cut'",
    ),
    "threshold apply": Command(
        function="gainful.tune.threshold:apply",
        special="gainful.cli.runs:apply",
        prints=False,
        example="gainful threshold apply runs/bm25.txt --cut cut.json -o shown.txt",
    ),
    "threshold curve": Command(
        function="gainful.tune.threshold:curve",
        example="gainful threshold curve qrels.txt runs/bm25.txt --chart curve.svg",
    ),
    "ltrf train": Command(
        function="gainful.ltrf:train",
        example="gainful ltrf train answers.csv --loss ordinal --save ranker",
        check_save="gainful.ltrf.functions:check_save",
        saves="the f-ranker, a new folder, for 'gainful ltrf score'",
    ),
    "ltrf score": Command(
        function="gainful.ltrf:score",
        special="gainful.cli.runs:score",
        prints=False,
        example="gainful ltrf score ranker new.csv -o filtered.txt",
    ),
    "ltrf compare": Command(
        function="gainful.ltrf:compare",
        example="gainful ltrf compare answers.csv --losses bce,ordinal --chart loss.svg",
    ),
    "ltrf tune": Command(
        function="gainful.ltrf:tune",
        example="gainful ltrf tune answers.csv --loss ordinal --trials 5 --save tuned",
        check_save="gainful.ltrf.functions:check_save",
        saves="the best f-ranker, a new folder, for 'gainful ltrf score'",
    ),
    "study negative-labels": Command(
        function="gainful.studies:negative_labels",
        special="gainful.cli.study:study",
        example="gainful study negative-labels qrels.txt runs/ --chart labels.svg",
    ),
    "study gain-discount": Command(
        function="gainful.studies:gain_discount",
        special="gainful.cli.study:study",
        example="gainful study gain-discount qrels.txt runs/ --discount-cutoffs 10,20",
    ),
    "study incomplete-judgments": Command(
        function="gainful.studies:incomplete_judgments",
        special="gainful.cli.study:study",
        example="gainful study incomplete-judgments qrels.txt runs/ --trials 5",
    ),
    "study forbidden-documents": Command(
        function="gainful.studies:forbidden_documents",
        special="gainful.cli.study:study",
        example="gainful study forbidden-documents qrels.txt runs/ --cutoff 50",
    ),
    "report": Command(
        function="gainful.pages:report",
        special="gainful.cli.report:report",
        prints=False,
        example="gainful report qrels.txt runs/ -m nDCG@10 -m nDCGf@10 -o report.html",
    ),
    "measures": Command(function="gainful.cli.measures:measures", example="gainful measures nDCG"),
    "simulate": Command(
        function="gainful.data.simulate:simulate",
        special="gainful.cli.simulate:simulate",
        prints=False,
        example="gainful simulate track --topics 25 --systems 12 --seed 7",
    ),
    "demo": Command(function="gainful.cli.demo:demo", example="gainful demo tour"),
}

# Commands of two words, by the first of them.
GROUPS = {
    "threshold": "Cut result lists: find the best threshold, apply it, or see the whole curve.",
    "ltrf": "Learn to rank and filter: train and use rankers that leave out what must not be shown.",
    "study": "Reproduce a paper's experiments: its tables and figures on your collections, next to the published ones.",
}
