"""Tutorials: notebooks that are kept with what they show, run anew by a test, and pages of the site."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

TUTORIALS = Path(__file__).parents[1] / "tutorials"


def read(path: Path) -> dict[str, Any]:
    """A notebook."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def page(notebook: dict[str, Any]) -> str:
    """A notebook as Markdown: text, code, and below it what it shows."""
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
        else:
            parts += [f"```python\n{text}\n```", *(shown for output in cell["outputs"] if (shown := _shown(output)))]
    return "\n\n".join(parts) + "\n"


def said(notebook: dict[str, Any]) -> list[str]:
    """What the cells print and show in words: without drawings, whose places differ from one machine to another."""
    found = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            text = "".join(output.get("text") or output["data"]["text/plain"])
            found.append("\n".join(line.rstrip() for line in text.splitlines()))
    return found


def rewrite() -> None:
    """Run all notebooks, and keep what they show."""
    for path in sorted(TUTORIALS.glob("*.ipynb")):
        path.write_text(json.dumps(ran(path), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"rewritten: docs/tutorials/{path.name}")


def ran(path: Path) -> dict[str, Any]:
    """A notebook, run by a kernel in a folder of its own."""
    import tempfile

    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        where = {"metadata": {"path": folder}}
        nbclient.NotebookClient(notebook, timeout=300, resources=where, record_timing=False).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.metadata = {}
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    notebook.metadata.language_info = {"name": "python"}
    found: dict[str, Any] = json.loads(nbformat.writes(notebook))
    return found


def _shown(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        drawn = re.sub(r"<svg.*?</svg>", _picture, "".join(data["text/html"]), flags=re.DOTALL)
        drawn = " ".join(drawn.split()).replace("<table>", '<table class="numbers">')  # which the theme leaves alone
        return f'<div class="shown" tabindex="0" role="group" aria-label="Result">{drawn}</div>'
    text = "".join(output.get("text") or data["text/plain"]).rstrip("\n")
    return f"```text\n{text}\n```"


def _picture(svg: re.Match[str]) -> str:
    """A drawing by itself: the names that it defines are not those of the next one."""
    content = base64.b64encode(svg[0].encode()).decode()
    return f'<img class="chart" alt="Chart of the numbers above" src="data:image/svg+xml;base64,{content}">'
