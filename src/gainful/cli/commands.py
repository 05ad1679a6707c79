"""Which function is which command: all that the command line adds to the library, in one table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its name, and the function (module:name) whose signature and docstring are its own."""

    name: str
    function: str
    words: str  # after its name in the example, which its help shows; a test runs all examples, in this order
    # Where there is more to do than to call and to print: the function of `gainful.cli.special`, or of
    # `gainful.cli.writing` if it prints nothing, that does it.
    special: str | None = None
    saves: str | None = None  # what --save writes, if the result can be saved
    check_save: str | None = None  # the function that refuses, before any work, a place to save to
    prints: bool = True  # whether there is a result to print; else the shell says what it has done

    @property
    def example(self) -> str:
        """As it is typed."""
        return f"gainful {self.name} {self.words}"


_COMMANDS = (
    Command(
        "evaluate", "gainful.verbs.evaluate:evaluate", "qrels.txt runs/ -m nDCG@10 -m nDCGf@10", special="evaluate"
    ),
    Command(
        "compare", "gainful.verbs.compare:compare", "qrels.txt runs/ -m nDCG@10 --baseline bm25", special="compare"
    ),
    Command(
        "explain", "gainful.verbs.explain:explain", "qrels.txt runs/bm25.txt --topic 101 -m nDCGf@10", special="explain"
    ),
    Command("check", "gainful.verbs.check:check", "qrels.txt runs/ --max-docs 1000", special="check"),
    Command("trec_eval", "gainful.cli.trec_eval:trec_eval", "-q -m ndcg_cut.10 qrels.txt runs/bm25.txt"),
    Command("reliability", "gainful.analyses.reliability:reliability", "qrels.txt runs/ -m nDCG@10 -m AP"),
    Command("stability", "gainful.analyses.stability:stability", "qrels.txt runs/ -m nDCG@10 --chart stability.svg"),
    Command("sensitivity", "gainful.analyses.sensitivity:sensitivity", "qrels.txt runs/ -m nDCG@10 -m P@10"),
    Command("robustness", "gainful.analyses.robustness:robustness", "qrels.txt runs/ -m bpref -m nDCG@100"),
    Command("boundedness", "gainful.analyses.boundedness:boundedness", "qrels.txt runs/ --cutoff 5,20"),
    Command("agreement", "gainful.analyses.agreement:agreement", "qrels.txt runs/ -m nDCG@10 -m AP -m RR"),
    Command("judges", "gainful.analyses.judges:judges", "qrels.txt llm.txt -m nDCG@10 --runs runs"),
    Command(
        "tasks",
        "gainful.analyses.tasks:tasks",
        "qrels.txt runs/ --collection news=qrels.txt:runs/ -m AP",
        special="tasks",
    ),
    Command(
        "pool",
        "gainful.analyses.pool:pool",
        "qrels.txt runs/ --depth 20 --save to-judge.csv",
        special="pool",
        saves="the list to judge: .csv, .tsv, .jsonl, .parquet and .arrow are tables, all else is TREC text",
    ),
    Command("topics", "gainful.analyses.topics:topics", "qrels.txt runs/ -m nDCG@10 --difference 0.05"),
    Command(
        "optimize",
        "gainful.tune.optimize:optimize",
        "qrels.txt runs/ --cutoff 10 --save best.json",
        saves="the optimal measure, as .json: 'gainful evaluate -m @FILE' takes it",
        check_save="gainful.tune.optimize:check_save",
    ),
    Command(
        "threshold fit",
        "gainful.tune.threshold:fit",
        "qrels.txt runs/bm25.txt --save cut.json",
        saves="the threshold, as JSON, for 'gainful threshold apply --cut'",
    ),
    Command(
        "threshold apply",
        "gainful.tune.threshold:apply",
        "runs/bm25.txt --cut cut.json -o shown.txt",
        special="apply",
        prints=False,
    ),
    Command("threshold curve", "gainful.tune.threshold:curve", "qrels.txt runs/bm25.txt --chart curve.svg"),
    Command(
        "ltrf train",
        "gainful.ltrf:train",
        "answers.csv --loss ordinal --save ranker",
        saves="the f-ranker, a new folder, for 'gainful ltrf score'",
        check_save="gainful.ltrf.functions:check_save",
    ),
    Command("ltrf score", "gainful.ltrf:score", "ranker new.csv -o filtered.txt", special="score", prints=False),
    Command("ltrf qrels", "gainful.ltrf:qrels", "answers.csv -o judgments.txt", special="qrels", prints=False),
    Command("ltrf export", "gainful.ltrf:export", "ranker --onnx ranker.onnx", special="export", prints=False),
    Command("ltrf compare", "gainful.ltrf:compare", "answers.csv --losses bce,ordinal --chart loss.svg"),
    Command(
        "ltrf tune",
        "gainful.ltrf:tune",
        "answers.csv --loss ordinal --trials 5 --save tuned",
        saves="the best f-ranker, a new folder, for 'gainful ltrf score'",
        check_save="gainful.ltrf.functions:check_save",
    ),
    Command(
        "study negative-labels",
        "gainful.studies:negative_labels",
        "qrels.txt runs/ --chart labels.svg",
        special="study",
    ),
    Command(
        "study gain-discount",
        "gainful.studies:gain_discount",
        "qrels.txt runs/ --discount-cutoffs 10,20",
        special="study",
    ),
    Command(
        "study incomplete-judgments",
        "gainful.studies:incomplete_judgments",
        "qrels.txt runs/ --trials 5",
        special="study",
    ),
    Command(
        "study forbidden-documents",
        "gainful.studies:forbidden_documents",
        "qrels.txt runs/ --cutoff 50",
        special="study",
    ),
    Command(
        "report",
        "gainful.pages:report",
        "qrels.txt runs/ -m nDCG@10 -m nDCGf@10 -o report.html",
        special="report",
        prints=False,
    ),
    Command("measures", "gainful.cli.measures:measures", "nDCG"),
    Command(
        "simulate",
        "gainful.data.simulate:simulate",
        "track --topics 25 --systems 12 --seed 7",
        special="simulate",
        prints=False,
    ),
    Command("demo", "gainful.cli.demo:demo", "tour"),
)
COMMANDS = {command.name: command for command in _COMMANDS}

# Commands of two words, by the first of them.
GROUPS = {
    "threshold": "Cut result lists: find the best threshold, apply it, or see the whole curve.",
    "ltrf": "Learn to rank and filter: train and use rankers that leave out what must not be shown.",
    "study": "Reproduce a paper's experiments: its tables and figures on your collections, next to the published ones.",
}
