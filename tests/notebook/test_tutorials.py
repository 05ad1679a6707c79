"""The tutorials, run anew: every cell says what the page shows."""

from __future__ import annotations

import re

import pytest

from sitegen import notebooks

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

NAMES = ("engineer", "organiser", "student")


def test_there_is_one_for_each_of_three_people():
    assert sorted(path.stem for path in notebooks.TUTORIALS.glob("*.ipynb")) == list(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_says_what_it_shows(name):
    path = notebooks.TUTORIALS / f"{name}.ipynb"
    assert notebooks.said(notebooks.ran(path)) == notebooks.said(notebooks.read(path)), (
        "run: python docs/generate.py --notebooks"
    )


@pytest.mark.parametrize("name", NAMES)
def test_page_has_text_code_and_charts(name):
    notebook = notebooks.read(notebooks.TUTORIALS / f"{name}.ipynb")
    page = notebooks.page(notebook)
    assert page.startswith("# ")
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(re.findall(r"^```python$", page, re.MULTILINE)) == len(cells) >= 5
    assert page.count("data:image/svg+xml;base64,") >= 3
    assert "<svg" not in page  # names inside of two drawings would be the same
    assert all("\n" not in shown for shown in re.findall(r'<div class="shown".*?</div></div>', page, re.DOTALL))
