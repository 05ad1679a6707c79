// The report: who wins, whether it is real, every topic, how far to trust it all.
// What the data allow.
const made = contents.analyses.filter((each) => !each.absent);

function section(id, title, lead, ...children) {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    lead && h("p", {}, lead),
    children,
  );
}

// How far to trust it: what says all in a sentence shows the rest only when asked.
function analysis(each, charts) {
  const tables = each.tables.map((table, at) => [
    framed(table, table.title || `Numbers${at ? `, ${at + 1}` : ""}: ${each.title}`),
    tableExports(table.title || `${each.title}${at ? ` ${at + 1}` : ""}`, () => table),
  ]);
  const about = [
    h("h2", { id: `${each.id}-title` }, each.title),
    h("p", { class: "verdict" }, isolated(each.verdict)),
    !each.dull && h("p", {}, each.lead),
  ];
  const more = [
    notes(each.notes),
    h("p", { class: "small quiet" }, "More of this: ", h("code", {}, `gainful ${each.command}`)),
  ];
  if (!each.dull)
    return h(
      "section",
      { id: each.id, class: "analysis", "aria-labelledby": `${each.id}-title` },
      h("div", { class: "about" }, about, more),
      h("div", {}, figures(charts), tables),
    );
  const opened = h("div");
  const details = h("details", { class: "rest" }, h("summary", {}, "Chart and numbers"), opened);
  details.addEventListener(
    "toggle",
    () => details.open && !opened.firstChild && put(opened, h("p", {}, each.lead), more, figures(charts), tables),
  );
  return h("section", { id: each.id, class: "dull", "aria-labelledby": `${each.id}-title` }, about, details);
}

// Every reason once, above it the questions that stay open.
function lacking() {
  const reasons = new Map();
  for (const each of contents.analyses)
    if (each.absent) reasons.set(each.absent, [...(reasons.get(each.absent) || []), each]);
  return [...reasons].map(([reason, open]) => [
    h("h3", {}, open.map((each) => each.title).join(" ")),
    absent(reason),
  ]);
}

function again() {
  const pairs = (of) =>
    h(
      "dl",
      {},
      Object.entries(of).map(([name, value]) => [
        h("dt", {}, name),
        h("dd", {}, value === null ? "none" : String(value)),
      ]),
    );
  const lines = [contents.comparison, ...contents.analyses].map((each) => each.line).filter(Boolean);
  return [
    h("p", {}, "The judgments are ", h("code", {}, contents.qrels), "."),
    contents.command !== null && [h("h3", {}, "On the command line"), copied(contents.command)],
    h("h3", {}, "In Python"),
    copied(`import gainful as gf\n${contents.python}.save("report.html")`),
    h(
      "div",
      { class: "columns" },
      h("div", {}, h("h3", {}, "Settings"), pairs({ ...contents.settings, version: contents.version })),
      h("div", {}, h("h3", {}, "Policies"), pairs(contents.policies)),
      h(
        "div",
        {},
        h("h3", {}, "Measures"),
        h(
          "dl",
          {},
          contents.measures.map((each) => [h("dt", { class: "id" }, brief(each.name)), h("dd", {}, each.headline.split("`").map((text, at) => (at % 2 ? h("code", {}, text) : text)))]),
        ),
      ),
    ),
    h(
      "details",
      {},
      h("summary", {}, "What each analysis did"),
      h(
        "ul",
        { class: "notes" },
        lines.map((line) => h("li", {}, line)),
      ),
    ),
  ];
}

document.title = `${contents.title || "Report"} – gainful`;
const main = document.getElementById("page");
const SHORT = {
  ...{ agreement: "Agreement", reliability: "Reliability", topics: "Topics needed", stability: "Stability" },
  ...{ sensitivity: "Sensitivity", robustness: "Judgments", boundedness: "Bounds", threshold: "Threshold" },
};
const start = readAddress();
Object.assign(state, start.values);
put(
  main,
  h(
    "header",
    { class: "head" },
    byline(),
    h("div", { class: "hero" }, live(["measure"], verdict), live(["measure"], topPlot)),
    navigation([
      ["leaderboard", "Runs", "Who wins?"],
      ["significance", "Pairs", "Is it real?"],
      ...(contents.systems.length > 1 ? [["beside", "Side by side", "Two runs side by side"]] : []),
      ["heat", "Topics", "Every topic"],
      ...made.map((each) => [each.id, SHORT[each.id] || each.title, each.title]),
      ...(made.length < contents.analyses.length ? [["lacking", "Not computed"]] : []),
      ["again", "Repeat", "How to repeat it"],
    ]),
  ),
  toolbar(),
  section(
    "leaderboard",
    "Who wins?",
    "Mean scores; intervals are by the t-distribution, which knows no bounds: of few topics they may leave the range of a measure. The head of a column sorts by it; the measure chosen above decides places and picture.",
    leaderboard(),
  ),
  section("significance", "Is it real?", null, significance()),
  contents.systems.length > 1 && section("beside", "Two runs side by side", null, besideSection()),
  section(
    "heat",
    "Every topic",
    "One cell per run and topic. Choose a cell to see its ranking taken apart, the name of a run to order topics by its scores, a topic to order the runs.",
    topicsSection(),
  ),
);
loadPairs();

// The rest is below the first screen, and takes longer.
const charts = await unpack("charts");
const front = contents.findings.slice(contents.comparison.absent ? 1 : 0);
put(
  main,
  made.length > 0 &&
    h(
      "div",
      { class: "trust" },
      h("p", { class: "eyebrow" }, "How far to trust it"),
      front.length > 0 &&
        h(
          "div",
          { class: "short" },
          h("h2", {}, "In short"),
          h(
            "ul",
            {},
            front.map((text) => h("li", {}, isolated(text))),
          ),
        ),
      made.some((each) => !each.dull) && measureChips(),
    ),
  made.map((each) => analysis(each, charts[each.id])),
  made.length < contents.analyses.length && section("lacking", "Not computed, and why", null, lacking()),
  contents.notes.length > 0 && section("notes", "Notes on these data", null, notes(contents.notes)),
  section("again", "How to repeat it", null, again()),
  h(
    "footer",
    {},
    `Made by gainful ${contents.version}. This page holds everything that it shows and asks nothing of any network.`,
  ),
);

function follow({ opened }) {
  const target = place && document.getElementById(place);
  if (target) target.scrollIntoView();
  if (!opened) return;
  if (opened.run === null && contents.systems.length > 1)
    openBeside(opened.topic, differences(...pairNow()).map(([topic]) => topic), null);
  else if (opened.run !== null)
    openRanking(opened.run, opened.topic, state.measure, { systems: runsInRows(), topics: topicsShown() }, null);
}
addEventListener("hashchange", () => {
  const next = readAddress();
  reading = true;
  change(next.values);
  reading = false;
  follow(next);
});
follow(start);
document.documentElement.dataset.ready = "true";
