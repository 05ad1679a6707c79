"""`gainful report`: a page, and what it says in short."""

from __future__ import annotations

from pathlib import Path

from gainful.cli.call import Call
from gainful.cli.output import emit, note, paragraph


def report(call: Call, *, output: Path = Path("report.html")) -> None:
    """Put everything on one page.

    Parameters
    ----------
    output
        The page: a name that ends in .html. It opens without a network, and can be sent as it is.
    """
    from gainful.pages.result import check_page_path

    check_page_path(output)
    found = call.result()
    replaced = output.exists()
    found.save(output)
    emit("".join(f"{line}\n" for sentence in found.findings() for line in paragraph(sentence)[:1]))
    for remark in found.notes():
        note(f"note: {remark.text}")
    note(str(found.settings))
    note(f"{'replaced' if replaced else 'written to'} {output}: open it in a browser")
