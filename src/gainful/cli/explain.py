"""`gainful explain`: one topic, or the list of all topics to choose from."""

from __future__ import annotations

import shlex

from gainful.cli.call import Call
from gainful.cli.output import as_csv, as_json, chosen_format, emit, note, on_terminal
from gainful.errors import GainfulError

_MOST_TOPICS = 20


def explain(call: Call, *, topic: str | None = None) -> None:
    """Show how the score of one topic comes about.

    Parameters
    ----------
    topic
        The topic. Without it, all topics and their scores are listed, the worst first.
    """
    if topic is not None:
        call.show(call.changed(topic=topic).result())
        return
    if call.shown["chart"] is not None:
        raise GainfulError(f"--chart {call.shown['chart']}: expected --topic with it, the topic to draw")
    from gainful.io.read import read_run
    from gainful.verbs.evaluate import evaluate

    qrels, run = call.files
    scores = evaluate(qrels, read_run(run), call.own["measure"], **call.shared)
    table = scores.worst_topics()
    output = call.shown["output"]
    match chosen_format(call.shown["format"], output):
        case "json":
            rows = dict(table.frame.rows())
            text = as_json({"measure": scores.measures[0], "run": scores.systems[0], "topics": rows})
        case "csv":
            text = as_csv(("query_id", "score"), table.frame.rows())
        case "latex":
            text = table.latex()
        case _:
            text = table.head(_MOST_TOPICS).text(terminal=on_terminal(output))
            if table.frame.height > _MOST_TOPICS:
                note(f"note: the {_MOST_TOPICS} worst of {table.frame.height} topics; --format csv has them all")
    emit(text, output)
    worst = shlex.quote(str(table.frame.row(0)[0]))
    note(f"To explain one of these topics, add --topic, such as: --topic {worst}")
