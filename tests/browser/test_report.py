"""The report in a real Chromium: what it shows is right, it can be used without a mouse, and nothing leaves it."""

from __future__ import annotations

from base64 import b64encode
from math import log2
from time import monotonic

import numpy as np
import pytest
from scipy.stats import sem, t, ttest_rel

import gainful as gf

EVIL = "<script>alert(1)</script>"
MARKUP = "<b>3</b>"
IMAGE = "<img/src=x/onerror=alert(2)>"
QRELS = {
    "1": {"a": 2, "b": 1, "spam": -2},
    "2": {"c": 1, IMAGE: 1, "e": 0},
    MARKUP: {"f": 1, "g": 0},
    "4": {"h": 3, "i": 1},
}
PERFECT = {"1": ["a", "b"], "2": ["c", IMAGE], MARKUP: ["f"], "4": ["h", "i"]}
RUNS = {
    "perfect": PERFECT,
    EVIL: {**PERFECT, "1": ["b", "spam", "a"]},
    "late": {topic: ["u1", *docs] for topic, docs in PERFECT.items()},
    "later": {topic: ["u1", "u2", *docs] for topic, docs in PERFECT.items()},
    "spammy": {**PERFECT, "1": ["spam", "a"], "4": ["i", "h"]},
    "nothing": {topic: ["u1", "u2", "u3"] for topic in PERFECT},
}
# By hand: the best of topic 1 is 2 at rank 1 and 1 at rank 2.
IDEAL = 2 + 1 / log2(3)
EVIL_SCORE = (1 + 2 / log2(4)) / IDEAL
LATE = {
    "1": (2 / log2(3) + 1 / log2(4)) / IDEAL,
    "2": (1 / log2(3) + 1 / log2(4)) / (1 + 1 / log2(3)),
    MARKUP: 1 / log2(3),
    "4": (3 / log2(3) + 1 / log2(4)) / (3 + 1 / log2(3)),
}


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    gf.report(QRELS, RUNS, ["nDCG@3", "Forbidden@3", "AP"], cutoff=3, resamples=100, trials=2).save(path)
    return path


def until(page, expression: str) -> None:
    """Wait for it; a page that forbids eval cannot wait by itself."""
    end = monotonic() + 30
    while not page.evaluate(expression):
        assert monotonic() < end, expression
        page.wait_for_timeout(50)


def all_drawn(page) -> None:
    """Wait for the charts: those above others move them when they are drawn."""
    until(page, "document.querySelectorAll('figure svg').length === document.querySelectorAll('figure').length")


def leaders(page) -> list[str]:
    return page.locator("#leaderboard tbody td.name").all_inner_texts()


def rows(page) -> list[str]:
    return page.locator("#heat .names button").all_inner_texts()


def columns(page) -> list[str]:
    return page.locator("#heat .tops button").all_inner_texts()


class Cell:
    """A place of the picture, which has no elements."""

    def __init__(self, page, run: str, topic: str) -> None:
        self.canvas = page.locator("#heat canvas")
        self.canvas.scroll_into_view_if_needed()
        box, names, topics = self.canvas.bounding_box(), rows(page), columns(page)
        x = box["width"] * (topics.index(topic) + 0.5) / len(topics)
        self.place = {"x": x, "y": box["height"] * (names.index(run) + 0.5) / len(names)}

    def click(self) -> None:
        self.canvas.click(position=self.place)

    def hover(self) -> None:
        self.canvas.hover(position=self.place)


def cell(page, run: str, topic: str) -> Cell:
    return Cell(page, run, topic)


def test_draws_everything_and_asks_for_nothing(look, page_file):
    page = look(page_file)
    all_drawn(page)
    assert page.locator("figure svg").count() >= 7
    assert page.locator("section h2").all_inner_texts()[:4] == [
        "Who wins?",
        "Is it real?",
        "Two runs side by side",
        "Every topic",
    ]
    policy = page.locator("meta[http-equiv]").get_attribute("content")
    assert policy.startswith("default-src 'none'")
    assert "unsafe-eval" not in policy


class TestLeaderboard:
    def test_means_and_intervals(self, look, page_file):
        page = look(page_file)
        assert leaders(page)[0] == "perfect"
        assert leaders(page)[-1] == "nothing"
        line = page.locator("#leaderboard tbody tr", has_text="late").first.inner_text()
        late = list(LATE.values())
        low, high = t.interval(0.95, 3, sum(late) / 4, sem(late))
        assert f"{sum(late) / 4:.4f}" in line
        drawn = page.locator("#leaderboard tbody tr", has_text="late").first.locator(".range").get_attribute("title")
        assert drawn == f"{sum(late) / 4:.4f} ({low:.4f} to {high:.4f})"

    def test_sorts_by_a_column_and_back(self, look, page_file):
        page = look(page_file)
        head = page.locator("#leaderboard th", has_text="Forbidden@3").first
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "descending"
        assert leaders(page)[0] == "spammy"  # half of what it shows for topic 1
        head.locator("button").press("Enter")
        assert head.get_attribute("aria-sort") == "ascending"
        assert leaders(page)[-1] == "spammy"

    def test_ticking_leaves_the_order_alone(self, look, page_file):
        page = look(page_file)
        page.locator("#leaderboard th", has_text="run").first.locator("button").click()
        by_name = leaders(page)
        assert by_name != rows(page)
        page.get_by_label("tick later").check()
        assert leaders(page) == by_name
        assert page.locator("#leaderboard tr.chosen td.name").all_inner_texts() == ["later"]
        page.get_by_label("only those ticked (1)").wait_for()

    def test_a_chosen_measure_sets_the_order_of_everything(self, look, page_file):
        page = look(page_file)
        page.select_option("#choose-measure", "Forbidden@3")
        assert leaders(page)[-1] == "spammy"  # lower is better
        first = page.locator("#leaderboard tbody tr").first.locator("td")
        tones = first.evaluate_all("(all) => all.map((one) => [one.className, getComputedStyle(one).backgroundColor])")
        alone = [tone for name, tone in tones if name == "current"]  # in a colour of its own
        assert len(alone) == 1
        assert [tone for _, tone in tones].count(alone[0]) == 1
        assert rows(page)[-1] == "spammy"

    def test_finds_the_best_and_the_ticked(self, look, page_file):
        page = look(page_file)
        page.fill("#find-runs", "LATE")
        assert leaders(page) == ["late", "later"]
        assert rows(page) == ["late", "later"]
        page.fill("#find-runs", "")
        page.select_option("#show-best", "5")
        assert len(leaders(page)) == len(rows(page)) == 5
        assert "nothing" not in leaders(page)
        page.get_by_label("tick later").check()
        page.get_by_label("tick perfect").check()
        page.get_by_label("only those ticked (2)").check()
        assert leaders(page) == rows(page) == ["perfect", "later"]
        page.fill("#find-runs", "zzz")
        assert page.locator("#leaderboard .absent").inner_text() == "No run is called that."


def test_significance_of_a_pair(look, page_file):
    page = look(page_file)
    names = page.locator("#significance tbody th").all_inner_texts()
    assert names == leaders(page)
    one, other = names.index("perfect"), names.index("late")
    page.locator("#significance tbody tr").nth(one).locator("td").nth(other).click()
    told = page.locator("#significance .detail").inner_text()
    perfect, late = [1.0] * 4, list(LATE.values())
    assert "perfect against late" in told
    assert f"{1 - sum(late) / 4:.4f}" in told
    assert "better on 4 topics, equal on 0, worse on 0" in told
    assert f"p = {ttest_rel(perfect, late).pvalue:.4f}" in told


def test_a_chosen_pair_follows_the_measure(look, page_file):
    page = look(page_file)
    names = page.locator("#significance tbody th").all_inner_texts()
    at = page.locator("#significance tbody tr").nth(names.index("perfect")).locator("td").nth(names.index("late"))
    at.click()
    assert "difference in nDCG@3: " in page.locator("#significance .detail").inner_text()
    page.select_option("#choose-measure", "AP")
    told = page.locator("#significance .detail").inner_text()
    late = [(1 / 2 + 2 / 3) / 2, (1 / 2 + 2 / 3) / 2, 1 / 2, (1 / 2 + 2 / 3) / 2]  # one document too late
    assert "perfect against late" in told
    assert f"difference in AP: {1 - sum(late) / 4:.4f}" in told
    assert f"p = {ttest_rel([1.0] * 4, late).pvalue:.4f}" in told
    assert f"difference in AP: {1 - sum(late) / 4:.4f}" in page.locator("#beside .told").inner_text()


def test_sections_on_pairs_name_their_tests(look, page_file):
    """One corrects for the number of pairs and the other does not: each says so where it gives a number."""
    page = look(page_file)
    assert "Paired t-test on the topics, p < 0.05 after Holm's correction for the 15 pairs of runs." in (
        page.locator("#significance").inner_text()
    )
    verdict = page.locator("#sensitivity .verdict").inner_text()
    assert "bootstrap" in verdict
    assert "not corrected for the number of pairs" in verdict


@pytest.mark.parametrize(
    ("better", "said"),
    [(20, "p < 0.05. The two runs differ in RR."), (1, "p < 0.05. The two runs are not shown to differ in RR.")],
)
def test_one_pair_is_told_as_one(look, tmp_path, better, said):
    topics = [str(topic) for topic in range(20)]
    runs = {"one": {topic: ["a"] for topic in topics}, "two": {}}
    runs["two"] = {topic: ["b", "a"] if at < better else ["a"] for at, topic in enumerate(topics)}
    runs["two"][topics[0]] = ["b", "c", "a"]  # differences that are all the same have no variance
    gf.report({topic: {"a": 1} for topic in topics}, runs, "RR", resamples=20, trials=1).save(tmp_path / "two.html")
    assert said in look(tmp_path / "two.html").locator("#significance").inner_text()


def test_significance_where_lower_is_better(look, tmp_path):
    path = tmp_path / "spam.html"
    qrels = {str(topic): {"a": 1, "spam": -1} for topic in range(8)}
    runs = {"dirty": {topic: ["a", "spam"] for topic in qrels}, "clean": {topic: ["a"] for topic in qrels}}
    gf.report(qrels, runs, ["Forbidden@3", "P@2"], resamples=20, trials=2).save(path)
    page = look(path)
    assert leaders(page) == ["clean", "dirty"]
    pairs = page.locator("#significance tbody td")
    assert [each.get_attribute("class") for each in pairs.all()] == ["same", "win", "loss", "same"]
    pairs.nth(1).click()
    told = page.locator("#significance .detail").inner_text()
    assert "clean against dirty\ndifference in Forbidden@3: −0.5000 (−0.5000 to −0.5000)" in told
    assert "better on 8 topics, equal on 0, worse on 0" in told
    page.select_option("#choose-measure", "P@2")  # half of two are relevant in both
    assert [each.get_attribute("class") for each in pairs.all()] == ["same", "", "", "same"]


class TestTopics:
    def test_orders_by_difficulty_topic_and_run(self, look, page_file):
        page = look(page_file)
        assert columns(page) == list(QRELS)
        page.select_option("#order-topics", "hardest")
        means = gf.evaluate(QRELS, RUNS, "nDCG@3")["nDCG@3"].values.mean(axis=0)
        hardest = [list(QRELS)[at] for at in means.argsort()]
        assert hardest[0] == "1"
        assert columns(page) == hardest
        page.select_option("#order-topics", "easiest")
        assert columns(page) == hardest[::-1]
        page.locator("#heat .tops button", has_text="1").first.click()
        # DCG@3 of topic 1: 2 + .63, 1 + 2/2, 2·.63 + 1/2, 2·.63, 2/2, 0.
        assert rows(page) == ["perfect", EVIL, "late", "spammy", "later", "nothing"]
        page.locator("#heat").get_by_role("button", name=EVIL).click()
        assert columns(page)[-1] == "1"  # its only fault
        page.fill("#find-topics", "<B>")
        assert columns(page) == [MARKUP]

    def test_a_cell_tells_its_score(self, look, page_file):
        page = look(page_file)
        cell(page, "late", "1").hover()
        assert f"nDCG@3: {LATE['1']:.4f}" in page.locator("#tip").inner_text()

    def test_opens_a_ranking_by_click(self, look, page_file):
        page = look(page_file)
        cell(page, EVIL, "1").click()
        sheet = page.locator("dialog.sheet")
        assert sheet.locator(".big").inner_text() == f"{EVIL_SCORE:.4f}"
        table = [line.locator("td").all_inner_texts() for line in sheet.locator(".ranking tbody tr").all()]
        won = [1 / IDEAL, 0.0, 1 / IDEAL]
        so_far = [1 / IDEAL, 1 / IDEAL, 2 / IDEAL]
        assert table == [
            ["1", "b", "1", "1", "1.0000", f"{won[0]:.4f}", f"{so_far[0]:.4f}"],
            ["2", "spam", "−2", "0", f"{1 / log2(3):.4f}", "0.0000", f"{so_far[1]:.4f}"],
            ["3", "a", "2", "2", "0.5000", f"{won[2]:.4f}", f"{so_far[2]:.4f}"],
        ]
        lost = [line.locator("td").all_inner_texts() for line in sheet.locator(".losses tbody tr").all()]
        assert lost[0] == ["a", "2", "3", f"{1 / IDEAL:.4f}", f"{2 / IDEAL:.4f}", f"{1 / IDEAL:.4f}"]
        assert lost[1][0] == "b"
        assert lost[1][-1].startswith("−")  # it stands higher than it should
        sheet.get_by_label("Measure").select_option("AP")
        assert sheet.locator(".big").inner_text() == f"{(1 + 2 / 3) / 2:.4f}"
        sheet.get_by_role("button", name="Next topic").click()
        assert sheet.locator("h2").inner_text() == "Topic 2"

    def test_a_measure_that_is_not_told_rank_by_rank(self, look, page_file):
        page = look(page_file)
        page.select_option("#choose-measure", "Forbidden@3")
        cell(page, "spammy", "1").click()
        sheet = page.locator("dialog.sheet")
        sheet.get_by_text("Forbidden@3: 0.5000. This measure is not explained rank by rank.").wait_for()
        assert sheet.locator(".big").inner_text() == f"{2 / log2(3) / IDEAL:.4f}"  # of nDCG@3
        sheet.get_by_label("Measure").select_option("AP")
        sheet.get_by_role("button", name="Next topic").click()
        sheet.get_by_text("Forbidden@3: 0.0000. This measure is not explained rank by rank.").wait_for()

    def test_opens_a_ranking_by_keyboard(self, look, page_file):
        page = look(page_file)
        page.locator("#find-topics").focus()
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('#heat canvas')"):
                break
        else:
            pytest.fail("the Tab key never came to the heat map")
        for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft", "End", "Home", "ArrowDown"):
            page.keyboard.press(key)
        third = rows(page)[2]
        told = f"{third}, topic 1; nDCG@3: "
        assert page.locator("#heat-told").inner_text().startswith(told)
        assert page.evaluate("getComputedStyle(document.querySelector('#heat .cursor')).outlineStyle") == "solid"
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog.sheet[open]")
        assert page.locator("dialog.sheet h2").inner_text() == "Topic 1"
        assert page.locator("dialog.sheet b.id").inner_text() == third
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog.sheet:not([open])", state="attached")
        assert page.evaluate("document.activeElement.matches('#heat canvas')")


def test_names_and_ids_are_text(look, page_file):
    page = look(page_file)
    assert EVIL in leaders(page)
    assert MARKUP in columns(page)
    cell(page, "perfect", "2").click()
    assert IMAGE in page.locator("dialog.sheet .ranking").inner_text()
    until(page, "document.querySelectorAll('figure svg').length === document.querySelectorAll('figure').length")
    assert page.locator("main img, dialog img, main script, dialog script, td b:not(:empty)").count() == 0
    assert page.locator("script").count() == 5  # its own: contents, rankings and charts, Vega, the page's
    assert EVIL.encode() not in page_file.read_bytes()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_does_not_scroll_sideways(look, page_file, width):
    page = look(page_file, width=width)
    until(page, "document.querySelectorAll('figure svg').length === document.querySelectorAll('figure').length")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    name = page.locator("#leaderboard td.name", has_text=EVIL).bounding_box()  # it stays when the others scroll
    assert name["width"] < width / 2
    cell(page, "late", "4").click()
    page.wait_for_selector("dialog.sheet .ranking")
    assert page.evaluate("document.querySelector('dialog.sheet').scrollWidth") <= width


def luminance(page, selector: str, what: str) -> float:
    colour = page.evaluate(f"getComputedStyle(document.querySelector({selector!r})).{what}")
    red, green, blue = (float(part) for part in colour.split("(")[1].rstrip(")").split(",")[:3])
    return (red + green + blue) / 3


CONTRASTS = """() => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const over = (colour, under) => {
    for (const each of [`rgb(${under})`, colour]) { pen.fillStyle = each; pen.fillRect(0, 0, 1, 1); }
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((x) => (x <= 10 ? x / 3294 : ((x / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const low = [];
  const check = (element, name) => {
    const chain = [];
    for (let at = element; at; at = at.parentElement) chain.unshift(getComputedStyle(at).backgroundColor);
    const under = chain.reduce((so, next) => over(next, so), [255, 255, 255]);
    const [one, two] = [light(under), light(over(getComputedStyle(element).color, under))];
    if (Math.max(one, two) / Math.min(one, two) < 4.5) low.push(name);
  };
  for (const element of document.querySelectorAll("main *, dialog[open] *")) {
    const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (text && element.offsetParent && !element.disabled && !element.closest("svg, select, .sr"))
      check(element, `${element.tagName}.${element.className}: ${element.textContent.slice(0, 20)}`);
  }
  return low;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(look, page_file, scheme):
    """A contrast of 4.5 at least, as WCAG asks."""
    page = look(page_file, scheme=scheme)
    cell(page, "spammy", "1").click()
    page.wait_for_selector("dialog.sheet .mark.bad")
    assert page.evaluate(CONTRASTS) == []


def test_light_and_dark(look, page_file):
    page = look(page_file, scheme="dark")
    all_drawn(page)
    assert luminance(page, "body", "backgroundColor") < 60
    assert luminance(page, "body", "color") > 180
    assert luminance(page, "#reliability svg text", "fill") > 120
    page.evaluate("document.querySelector('#reliability svg text').dataset.drawn = 'once'")
    page.get_by_role("button", name="Switch to light colours").click()
    assert luminance(page, "body", "backgroundColor") > 240
    assert luminance(page, "#reliability svg text[data-drawn]", "fill") < 120
    page.get_by_role("button", name="Switch to dark colours").click()
    assert luminance(page, "#reliability svg text[data-drawn]", "fill") > 120


def test_what_agrees_stands_out_in_the_dark_too(look, page_file):
    """The more two measures agree, the farther the cell's colour is from that of the page."""
    page = look(page_file, scheme="dark")
    all_drawn(page)
    shades = """[...document.querySelectorAll('#agreement .role-mark path[fill^=rgb]')].map((cell) => {
      const [red, green, blue] = getComputedStyle(cell).fill.match(/[0-9]+/g).map(Number);
      return [0.3 * red + 0.6 * green + 0.1 * blue, cell.getAttribute('aria-label')];
    })"""
    high, low = "τ_b: 1;", "τ_b: −0.258"
    for scheme in ("dark", "light"):
        found = {kind: {shade for shade, said in page.evaluate(shades) if kind in said} for kind in (high, low)}
        assert (max(found[low]) < min(found[high])) == (scheme == "dark")
        page.get_by_role("button", name="Switch to ").click()


def test_charts_on_a_phone(look, page_file):
    page = look(page_file, width=390)
    all_drawn(page)
    page.locator("#threshold summary").click()
    said = page.locator("#threshold svg").first.text_content()
    assert "threshold: documents with at least this" in said
    assert "score are kept" in said


def test_paper_is_light_whatever_the_screen_is(look, page_file):
    page = look(page_file, scheme="dark")
    all_drawn(page)
    page.emulate_media(media="print")
    assert luminance(page, "#reliability svg text", "fill") < 120
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")  # comes before the page is laid out for paper
    # The last run has nothing: the colour of a score of 0 is nearly that of the page.
    red = """(() => {
      const canvas = document.querySelector('#heat canvas');
      return canvas.getContext('2d').getImageData(9, canvas.height - 9, 1, 1).data[0];
    })()"""
    assert page.evaluate(red) > 200


def test_charts_show_the_measures_that_are_chosen(look, page_file):
    page = look(page_file)
    page.wait_for_selector("#stability svg")
    names = page.locator("#stability svg .role-mark text")
    assert sorted(names.all_text_contents()) == ["AP", "Forbidden@3", "nDCG@3"]
    page.get_by_role("group", name="Measures in the charts").get_by_role("button", name="AP").click()
    until(page, "![...document.querySelectorAll('#stability svg text')].some((text) => text.textContent === 'AP')")
    assert sorted(names.all_text_contents()) == ["Forbidden@3", "nDCG@3"]


@pytest.mark.parametrize("section", ["#stability", "#reliability"])  # one panel, and one per measure
def test_charts_zoom_and_grow(look, page_file, section):
    page = look(page_file)
    chart = page.locator(f"{section} .chart")
    all_drawn(page)
    chart.scroll_into_view_if_needed()
    labels = f"document.querySelectorAll('{section} svg .role-axis-label text')"
    ticks = f"[...{labels}].map((text) => text.textContent).join()"
    before = page.evaluate(ticks)
    box = chart.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 120)
    page.keyboard.down("Shift")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Shift")
    until(page, f"{ticks} !== {before!r}")
    page.locator(section).get_by_role("button", name="Enlarge").click()
    page.wait_for_selector("dialog.large svg")
    assert page.locator("dialog.large svg").bounding_box()["width"] > box["width"]
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog.large", state="detached")


def test_print_shows_all_and_no_buttons(look, page_file):
    page = look(page_file)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not page.locator(".bar").is_visible()
    assert page.locator("details").first.get_attribute("open") is not None
    heads = page.locator("#leaderboard thead")  # of the second page, too, where no button is drawn
    assert not heads.locator("button").first.is_visible()
    assert heads.inner_text().split()[:5] == ["#", "places", "group", "run", "nDCG@3"]
    assert page.evaluate("getComputedStyle(document.querySelector('#leaderboard .box')).maxHeight") == "none"
    assert luminance(page, "body", "backgroundColor") > 240


def test_what_the_data_do_not_allow_is_said(look, tmp_path):
    path = tmp_path / "one.html"
    gf.report({"1": {"a": 1}}, {"x": {"1": ["b", "a"]}, "y": {"1": ["b"]}}, "nDCG@3").save(path)
    page = look(path)
    told = page.locator(".absent").all_inner_texts()
    assert "This takes at least 2 topics of nDCG@3: there is 1 here." in told
    assert not any("expected" in text for text in told)  # what a program says is no sentence
    reasons = page.locator("#lacking .absent").all_inner_texts()
    assert len(reasons) == len(set(reasons)) < 8  # as many analyses, some for the same reason
    assert page.locator("#lacking h3").first.inner_text().endswith("?")
    assert "No label is negative: every nDCG lies between 0 and 1, whatever its norm." in told
    assert f"{1 / log2(3):.4f}" in page.locator("#leaderboard").inner_text()
    cell(page, "x", "1").click()
    assert page.locator("dialog.sheet .big").inner_text() == f"{1 / log2(3):.4f}"


LONG = "a-very-long-run-name-that-goes-on-and-on-with-all-parameters-k1=0.9-b=0.4-fb_terms=10-fb_docs=5-reranked"
CJK = "上上上上上上"  # the long stroke of each is below
RTL = "מנוע"
# Whatever sticks out of the page, but for what scrolls in a box of its own.
OUTSIDE = """(width) => [...document.querySelectorAll("main *")].filter((element) =>
  element.getBoundingClientRect().right > width + 1 && !element.closest(".box, .chart, .sr, svg, .sections"))
  .map((element) => `${element.tagName}.${element.className}`)"""


# Texts that lie on others, as far as they can be seen.
OVERLAPS = """() => {
  const seen = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const around = node.parentElement;
    if (!node.data.trim() || !around.checkVisibility() || around.closest(".sr, svg, option")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const { left, top, right, bottom } of range.getClientRects()) {
      const box = { left, top, right, bottom, node };
      for (let at = around; at; at = at.parentElement) {
        if (getComputedStyle(at).overflow === "visible") continue;
        const clip = at.getBoundingClientRect();
        for (const [side, pick] of [["left", Math.max], ["top", Math.max], ["right", Math.min], ["bottom", Math.min]])
          box[side] = pick(box[side], clip[side]);
      }
      if (box.right - box.left > 1 && box.bottom - box.top > 1) seen.push(box);
    }
  }
  const found = [];
  for (const [at, one] of seen.entries())
    for (const two of seen.slice(at + 1)) {
      const wide = Math.min(one.right, two.right) - Math.max(one.left, two.left);
      const high = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
      if (one.node !== two.node && wide > 3 && high > 6) found.push([one.node.data, two.node.data]);
    }
  return found;
}"""


@pytest.fixture(scope="module")
def odd_file(tmp_path_factory):
    """Names in Chinese and long ones, with texts that are none of a page's business."""
    path = tmp_path_factory.mktemp("odd") / "odd.html"
    runs = {CJK: PERFECT, LONG: RUNS["late"], EVIL: RUNS["later"]}
    folder = path.parent
    (folder / "queries.tsv").write_text(f"1\twhat <b>is</b> {EVIL}\n2\t检索\n", encoding="utf-8")
    (folder / "docs.jsonl").write_text(
        f'{{"_id": "a", "title": "A", "text": "{IMAGE} {"x" * 900}"}}\n{{"_id": "b", "text": "__proto__"}}\n'
    )
    metadata = {CJK: {"team": "one"}, LONG: {"team": "two"}, EVIL: {"team": "two"}}
    options = {"title": EVIL, "author": IMAGE, "date": "2026-11-16", "metadata": metadata}
    texts = {"queries": folder / "queries.tsv", "docs": folder / "docs.jsonl"}
    gf.report(
        QRELS, {**runs, RTL: PERFECT}, ["nDCG@3", "AP"], cutoff=3, resamples=50, trials=1, **options, **texts
    ).save(path)
    return path


# How dark the darkest column and row of a picture are, as shares of it, and where the column lies, from 0 to 1.
INK = """async (png) => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  const pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  const { data, width, height } = pen.getImageData(0, 0, image.width, image.height);
  const [columns, rows] = [new Array(width).fill(0), new Array(height).fill(0)];
  for (let at = 0; at < data.length; at += 4) {
    columns[(at / 4) % width] += (255 - data[at]) / height;
    rows[Math.floor(at / 4 / width)] += (255 - data[at]) / width;
  }
  const most = Math.max(...columns);
  return [most, Math.max(...rows), columns.indexOf(most) / width];
}"""
# Whether there is a font for Chinese here: without one, all letters are the same box.
HAS_CJK = """() => {
  const drawn = (letter) => {
    const canvas = document.createElement("canvas");
    const pen = canvas.getContext("2d");
    pen.font = "20px sans-serif";
    pen.fillText(letter, 10, 30);
    return canvas.toDataURL();
  };
  return drawn("上") !== drawn("下");
}"""


def test_labels_of_every_script_stand_the_same_way(look, odd_file):
    """They are read from below: the lower stroke of each letter is a line on the right, not one across at the top."""
    page = look(odd_file)
    if not page.evaluate(HAS_CJK):
        pytest.skip("no font for Chinese is installed")
    labels = [one for one in page.get_by_text(CJK, exact=True).all() if one.is_visible()]
    upright = [one for one in labels if (box := one.bounding_box())["height"] > 2 * box["width"]]
    assert upright
    for label in upright:
        column, row, place = page.evaluate(INK, b64encode(label.screenshot()).decode())
        assert column > row
        assert place > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_long_names_make_room(look, odd_file, width):
    page = look(odd_file, width=width)
    assert page.evaluate(OVERLAPS) == []
    for name, number in ((".top-runs .cut", ".top-runs .range"), ("#heat .names button", "#heat canvas")):
        box = page.locator(name, has_text=LONG[:20]).bounding_box()
        other = page.locator(number).first.bounding_box()
        assert box["x"] + box["width"] <= other["x"] + 1
    assert page.evaluate(OUTSIDE, width) == []


def test_names_from_right_to_left_leave_numbers_in_their_order(look, tmp_path):
    path = tmp_path / "turned.html"
    runs = {RTL: {**PERFECT, "4": ["u1", "u2"]}, "late": RUNS["late"], "spammy": RUNS["spammy"]}
    gf.report(QRELS, runs, ["nDCG@3", "Forbidden@3"], cutoff=3, resamples=50, trials=1).save(path)
    page = look(path)
    first, second = page.evaluate(
        """(name) => {
      const paragraph = [...document.querySelectorAll(".verdict")].find((one) => one.textContent.includes(`${name}`));
      const node = paragraph.firstChild;
      const at = node.data.indexOf("(", node.data.indexOf(name));
      return [at + 1, node.data.indexOf(")", at) - 1].map((place) => {
        const range = document.createRange();
        range.setStart(node, place);
        range.setEnd(node, place + 1);
        return range.getBoundingClientRect().left;
      });
    }""",
        RTL,
    )
    assert first < second


def test_the_key_of_a_band_is_not_as_pale_as_the_band(look, odd_file):
    page = look(odd_file, width=390)
    all_drawn(page)
    keys = page.locator("#reliability .role-legend-symbol path")
    assert keys.evaluate_all("(keys) => keys.map((key) => getComputedStyle(key).opacity)") == ["1", "1"]


def test_a_phone_shows_the_score_of_a_run(look, odd_file):
    page = look(odd_file, width=390)
    box = page.locator("#leaderboard td.current").first.bounding_box()
    assert box["x"] + box["width"] <= 390
    page.select_option("#run-b", label=LONG)
    page.locator("#beside .movers button").first.click()
    both = page.locator("dialog.sheet .two")
    assert both.evaluate("(box) => box.scrollWidth - box.clientWidth") == 0
    assert both.locator("table").count() == 2


def test_one_topic_is_one_bar(look, tmp_path):
    """Of 1/log2(3) = 0.63 on an axis from 0 to 0.8: not as wide as the page, and it opens both rankings."""
    path = tmp_path / "one.html"
    gf.report({"1": {"a": 1}}, {"x": {"1": ["b", "a"]}, "y": {"1": ["b"]}}, "nDCG@3").save(path)
    page = look(path)
    canvas = page.locator("#beside canvas")
    canvas.scroll_into_view_if_needed()
    filled = canvas.evaluate("""(canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 150, canvas.width, 1);
      const [red, blue] = [0, 2].map((at) => Array.from({ length: canvas.width }, (_, x) => data[4 * x + at]));
      return blue.flatMap((value, x) => (data[4 * x + 3] && value > red[x] + 60 ? [x] : []));
    }""")
    assert 40 <= len(filled) <= 90
    assert filled[-1] - filled[0] == len(filled) - 1
    canvas.click(position={"x": filled[5], "y": 150})
    sheet = page.locator("dialog.sheet.wide[open]")
    assert f"nDCG@3: {1 / log2(3):.4f} against 0.0000" in sheet.inner_text()
    assert sheet.locator("table").count() == 2


def test_texts_of_topics_and_documents_are_text(look, odd_file):
    page = look(odd_file)
    assert page.locator("h1").inner_text() == EVIL
    assert IMAGE in page.locator(".byline").inner_text()
    page.select_option("#run-b", label=LONG)
    page.locator("#beside .movers button", has_text="1").first.click()
    sheet = page.locator("dialog.sheet.wide")
    assert sheet.locator(".query").inner_text() == f"what <b>is</b> {EVIL}"
    said = sheet.locator(".says").first.text_content()
    assert said.startswith(f"A\n{IMAGE} xxx")
    assert len(said) == 400
    assert "This page has the first 400 characters of 2 of the 9 documents that it shows: 7 have no text." in (
        sheet.inner_text()
    )
    assert page.locator("main img, dialog img, main script, dialog script, .query b").count() == 0


@pytest.mark.slow
def test_two_rankings_of_a_topic(look, odd_file):
    """The second run has the same two documents one rank later: two lines join them."""
    page = look(odd_file)
    page.select_option("#run-a", label=CJK)
    page.select_option("#run-b", label=LONG)
    page.locator("#beside .movers button").first.click()
    sheet = page.locator("dialog.sheet.wide")
    sheet.locator(".moves").wait_for(state="attached")
    tables = [
        [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]
        for table in sheet.locator("table").all()
    ]
    assert [[row[0], row[1].split("\n")[0]] for row in tables[0]] == [["1", "f"]]
    assert [[row[0], row[1].split("\n")[0], row[-1]] for row in tables[1]] == [["1", "u1", "new"], ["2", "f", "↓ 1"]]
    assert sheet.locator(".moves path").count() == 1
    assert f"nDCG@3: 1.0000 against {1 / log2(3):.4f}" in sheet.inner_text()
    page.keyboard.press("Escape")


@pytest.mark.slow
def test_the_address_brings_back_what_was_chosen(look, page_file, odd_file):
    page = look(page_file)
    page.select_option("#choose-measure", "AP")
    page.fill("#find-runs", "late")
    page.select_option("#run-a", label="later")
    page.select_option("#choose-baseline", label="late")
    page.select_option("#order-topics", "hardest")
    page.get_by_label("tick later").check()
    cell(page, "later", "4").click()
    page.wait_for_selector("dialog.sheet[open]")
    again = look(page_file, address=page.evaluate("location.hash"))
    again.wait_for_selector("dialog.sheet[open]")
    assert again.locator("dialog.sheet h2").inner_text() == "Topic 4"
    assert again.locator("dialog.sheet b.id").inner_text() == "later"
    again.keyboard.press("Escape")
    assert again.input_value("#choose-measure") == "AP"
    assert leaders(again) == ["late", "later"]
    assert columns(again) == columns(page)
    assert again.get_by_label("tick later").is_checked()
    assert "AP of later minus that of" in again.locator("#beside").inner_text()
    assert again.locator("#leaderboard tr", has_text="later").last.inner_text().count("−") == 1
    other = look(odd_file, address="#heat&is.team=two&measure=none&a=<b>&topic=9")
    assert len(leaders(other)) == 2  # what the page does not know is left aside
    other = look(odd_file, address="#at=heat&is.team=two")
    assert sorted(leaders(other)) == sorted([LONG, EVIL])
    assert other.evaluate("scrollY") > 500


@pytest.mark.slow
def test_the_best_of_each_team(look, odd_file):
    """A run without a team stands for itself."""
    page = look(odd_file)
    page.select_option("#show-best", label="the best of each team")
    assert set(leaders(page)) == {CJK, RTL, LONG}  # the other of team two, EVIL, has its hits at lower ranks
    again = look(odd_file, address=page.evaluate("location.hash"))
    assert leaders(again) == leaders(page)
    assert again.locator("#show-best option:checked").inner_text() == "the best of each team"
    again.select_option("#show-best", label="all 4")
    assert len(leaders(again)) == 4
    assert len(leaders(look(odd_file, address="#each=toString"))) == 4


@pytest.mark.slow
def test_tables_can_be_taken_along(look, page_file, tmp_path):
    page = look(page_file)
    page.select_option("#choose-baseline", label="late")
    texts = {}
    for name in ("CSV", "LaTeX"):
        with page.expect_download() as found:
            page.get_by_label(f"leaderboard as {name}").click()
        found.value.save_as(tmp_path / name)
        texts[name] = (tmp_path / name).read_text(encoding="utf-8")
    header, first, *_ = texts["CSV"].splitlines()
    assert header.startswith("place,run,nDCG@3,Forbidden@3,AP,low,high,places,")
    assert first.startswith("1,perfect,1,")
    late = sum(LATE.values()) / 4
    line = next(line for line in texts["CSV"].splitlines() if ",late," in line)
    assert float(line.split(",")[2]) == pytest.approx(late, abs=1e-8)
    assert "perfect & 1.0000" in texts["LaTeX"]
    assert f"+{1 - late:.4f}" in texts["LaTeX"]
    page.wait_for_selector("#reliability svg")
    with page.expect_download() as found:
        page.locator("#reliability").get_by_role("button", name="as PNG").click()
    found.value.save_as(tmp_path / "chart.png")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


@pytest.fixture(scope="module")
def large_file(tmp_path_factory):
    """More runs than a matrix holds, more topics than labels have room for."""
    path = tmp_path_factory.mktemp("large") / "large.html"
    made = gf.simulate(topics=300, systems=45, depth=10, pool_depth=3, seed=1)
    gf.report(made.qrels, made.runs, ["nDCG@3", "Forbidden@3"], cutoff=3, resamples=20, trials=1).save(path)
    return path, made


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_many_runs_and_topics_fit(look, large_file, width):
    page = look(large_file[0], width=width)
    assert page.locator("#significance .grid").count() == 0
    assert page.locator("#significance .tiers li").count() >= 1
    assert page.locator("#heat canvas").bounding_box()["width"] <= width
    assert page.evaluate("Math.max(...[...document.querySelectorAll('select')].map((one) => one.options.length))") < 50
    assert page.evaluate("document.querySelectorAll('*').length") < 9000
    assert page.evaluate(OUTSIDE, width) == []


@pytest.mark.slow
def test_packed_pairs_are_those_of_compare(look, large_file):
    """p-values to four digits, and on which side of alpha they lie, from either side of a pair."""
    path, made = large_file
    page = look(path)
    one = gf.compare(gf.evaluate(made.qrels, made.runs, "nDCG@3"))["nDCG@3"]
    names = [run.name for run in made.runs]
    for at in (0, 500, 989):
        first, second = names[one.first[at]], names[one.second[at]]
        for run, other, sign in ((first, second, 1), (second, first, -1)):
            page.fill("#run-a", run)
            page.fill("#run-b", other)
            told = page.locator("#beside .told").inner_text()
            ends = sorted(sign * end for end in (one.difference_low[at], one.difference_high[at]))
            text = f"{sign * one.difference[at]:.4f} ({ends[0]:.4f} to {ends[1]:.4f})".replace("-", "−")
            assert f"difference in nDCG@3: {text}" in told
            p = "< 0.0001" if round(one.p[at], 4) < 0.0001 else f"= {one.p[at]:.4f}"
            assert f"p {p}" in told
    page.fill("#choose-baseline", names[0])
    stars = sum("*" in text for text in page.locator("#leaderboard tbody tr").all_inner_texts())
    better = one.better()
    assert stars == (better[0] | better[:, 0]).sum()


@pytest.mark.slow
def test_paper_cuts_nothing(look, large_file, page_file):
    for path in (large_file[0], page_file):
        page = look(path)
        page.wait_for_selector("#reliability svg")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.set_viewport_size({"width": 680, "height": 900})
        page.emulate_media(media="print")
        wide = """() => [...document.querySelectorAll("main *")].filter((element) =>
          element.getBoundingClientRect().right > 690 && element.checkVisibility() && !element.closest(".sr"))
          .map((element) => `${element.tagName}.${element.className} in ${element.closest("section")?.id}`)"""
        assert page.evaluate(wide) == []


def test_counts_are_higher_not_better_and_many_runs_pair_by_pair(look, tmp_path):
    """102 runs that return one document, or two, or nothing for one topic of eight."""
    path = tmp_path / "many.html"
    topics = [str(topic) for topic in range(8)]
    runs = {f"run{at:03}": {topic: ["a", "b"][: 1 + at % 2] for topic in topics} for at in range(101)}
    runs["gap"] = {topic: ["a"] for topic in topics[1:]}
    qrels = {topic: {"a": 1} for topic in topics}
    gf.report(qrels, runs, "NumRet", resamples=20, trials=1, missing="skip", gaps="drop").save(path)
    page = look(path)
    assert page.locator("#significance tbody").count() == 0
    assert page.locator("#significance .of").all_inner_texts() == ["Group 1 102 runs, 2.000 to 1.000"]
    assert page.locator("#leaderboard tbody tr").count() == 60
    page.get_by_role("button", name="show all 102").click()
    assert page.locator("#leaderboard tbody tr").count() == 102
    page.fill("#run-a", "run001")
    page.fill("#run-b", "run000")
    told = page.locator("#significance .detail").inner_text()
    assert "higher on 8 topics, equal on 0, lower on 0" in told
    assert "p = 0.0156, corrected 1.0000" in told  # 2 / 2⁷: the share of sign flips as far from 0
    page.fill("#find-runs", "gap")
    cell(page, "gap", "0").click()
    sheet = page.locator("dialog.sheet")
    sheet.get_by_text("NumRet: –. This measure is not explained rank by rank.").wait_for()


def test_a_baseline_has_a_table(look, tmp_path):
    path = tmp_path / "baseline.html"
    gf.report(QRELS, RUNS, "nDCG@3", baseline="late", resamples=100, trials=2).save(path)
    page = look(path)
    line = page.locator("#significance tr", has_text="perfect").locator("td").all_inner_texts()
    late = list(LATE.values())
    assert line[1] == f"{1 - sum(late) / 4:.4f}"
    assert line[8] == f"{ttest_rel([1.0] * 4, late).pvalue:.4f}"


def test_colours_against_a_baseline(look, tmp_path):
    """Blue is what the sentence counts: shown to be better than the baseline, which is in the picture though last."""
    made = gf.simulate(systems=12, contributors=12, topics=40, depth=30, pool_depth=10, seed=3)
    scores = gf.evaluate(made.qrels, made.runs, "nDCG@10")["nDCG@10"]
    order = np.argsort(-scores.values.mean(axis=1)).tolist()
    last, others = order[-1], order[:-1]
    ps = {run: ttest_rel(scores.values[run], scores.values[last]).pvalue for run in others}
    better, number = set(), len(ps)
    for step, run in enumerate(sorted(ps, key=ps.get)):  # Holm's correction
        if ps[run] * (number - step) >= 0.05:
            break
        better.add(run)
    assert 0 < len(better) < number
    path = tmp_path / "baseline.html"
    metadata = {name: {"team": name[:6], "type": "automatic"} for name in scores.systems}
    name = scores.systems[last]
    gf.report(made.qrels, made.runs, "nDCG@10", baseline=name, metadata=metadata, trials=1).save(path)
    page = look(path, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    lines = page.locator(".top-runs .line:has(.range)")
    shown = dict(zip(lines.locator(".id").all_inner_texts(), lines.locator(".range").all(), strict=True))
    assert list(shown) == [*(scores.systems[run] for run in order[:10]), name]
    blue = {run for run, picture in shown.items() if "behind" not in picture.get_attribute("class")}
    assert blue == {scores.systems[run] for run in better} & set(shown)
    assert page.locator(".top-runs .hint").inner_text().startswith("significantly better than the baseline")
    heads = page.locator("#leaderboard th").all_inner_texts()
    assert any(head.startswith("team") for head in heads)
    assert not any(head.startswith("type") for head in heads)  # the same for all
