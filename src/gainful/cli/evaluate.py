"""`gainful evaluate`: scores of every topic on request."""

from __future__ import annotations

from gainful.cli.call import Call
from gainful.cli.output import as_csv, as_json, chosen_format, on_terminal


def evaluate(call: Call, *, per_topic: bool = False) -> int:
    """Score runs.

    Parameters
    ----------
    per_topic
        Show the score of every topic, not only the mean.
    """
    scores, output = call.result(), call.shown["output"]
    text: str | None = None
    match chosen_format(call.shown["format"], output):
        case "csv":
            text = as_csv(("run", "measure", "query_id", "score"), scores.long_rows(per_topic=per_topic))
        case "json":
            content = scores.to_dict()
            text = as_json(content if per_topic else {key: content[key] for key in content if key != "scores"})
        case shape if per_topic:
            table = scores.topic_table()
            text = table.latex() if shape == "latex" else table.text(terminal=on_terminal(output))
    call.show(scores, text)
    return 1 if scores.failed else 0
