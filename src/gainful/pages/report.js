// The report: who wins, whether it is real, every topic, how far to trust it all.
// The file and its folder: more of a path is for the command line below.
const shortPath = (path) => path.split("/").slice(-2).join("/");

// What the data allow.
const made = contents.analyses.filter((each) => !each.absent);

function head() {
  const most = contents.labels.reduce((so, [, number]) => Math.max(so, number), 1);
  const bars = contents.labels.map(([label, number]) => {
    const kind = label < 0 ? "bad" : label > 0 ? "" : "zero";
    const column = h("i", { class: kind, title: `label ${plain(label)}: ${count(number)}` });
    column.style.height = `${Math.max(2, (100 * number) / most)}%`;
    return column;
  });
  const labels =
    contents.labels.length <= 12
      ? h(
          "li",
          {},
          h(
            "div",
            {
              class: "labels",
              role: "img",
              "aria-label": `Judgments by label: ${contents.labels.map(([label, number]) => `${plain(label)}: ${number}`).join(", ")}`,
            },
            bars,
          ),
          h(
            "div",
            { class: "label-names quiet", "aria-hidden": "true" },
            contents.labels.map(([label]) => h("span", {}, plain(label))),
          ),
        )
      : null;
  const fact = (value, name) => h("li", {}, h("b", {}, count(value)), h("span", {}, name));
  const plural = (value, name) => fact(value, value === 1 ? name : `${name}s`);
  return h(
    "header",
    { class: "head" },
    h(
      "div",
      {},
      h("p", { class: "eyebrow" }, "gainful report"),
      h("h1", { title: contents.qrels }, contents.title || shortPath(contents.qrels)),
    ),
    h(
      "ul",
      { class: "facts" },
      plural(contents.systems.length, "run"),
      plural(contents.topics.length, "topic"),
      plural(contents.judgments, "judgment"),
      plural(contents.measures.length, "measure"),
      labels,
    ),
    contents.findings.length
      ? h(
          "div",
          { class: "short" },
          h("h2", {}, "In short"),
          h(
            "ul",
            {},
            contents.findings.map((text) => h("li", {}, text)),
          ),
        )
      : null,
    notes(contents.notes),
    h(
      "nav",
      { "aria-label": "Contents" },
      h(
        "ul",
        { class: "contents" },
        [
          ["leaderboard", "Who wins?"],
          ["significance", "Is it real?"],
          ["heat", "Every topic"],
          ...made.map((each) => [each.id, each.title]),
          ...(made.length < contents.analyses.length ? [["lacking", "Not computed, and why"]] : []),
          ["again", "How to repeat it"],
        ].map(([id, text]) => h("li", {}, h("a", { href: `#${id}` }, text))),
      ),
    ),
  );
}

function toolbar() {
  const number = contents.systems.length;
  const measure = h(
    "select",
    { id: "choose-measure", onchange: () => change({ measure: contents.measures[measure.selectedIndex].name }) },
    contents.measures.map((each) => h("option", { value: each.name }, brief(each.name))),
  );
  const filter = h("input", {
    type: "search",
    id: "find-runs",
    placeholder: "part of a name",
    autocomplete: "off",
    oninput: () => change({ filter: filter.value }),
  });
  const tops = [5, 10, 20, 50].filter((top) => top < number);
  const top = h(
    "select",
    { id: "show-best", onchange: () => change({ top: Number(top.value) }) },
    h("option", { value: "0" }, `all ${number}`),
    tops.map((each) => h("option", { value: each }, `the best ${each}`)),
  );
  const only = h("input", { type: "checkbox", id: "only-ticked", onchange: () => change({ only: only.checked }) });
  countTicked();
  return h(
    "div",
    { class: "bar", role: "group", "aria-label": "What is shown" },
    h("label", {}, "Measure", measure),
    number > 1 && h("label", {}, "Find runs", filter),
    tops.length > 0 && h("label", {}, "Show", top),
    number > 1 && h("label", { class: "check" }, only, ticked),
    h("span", { class: "spring" }),
    themeButton(),
  );
}

function section(id, title, lead, ...children) {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    lead && h("p", {}, lead),
    children,
  );
}

// How far to trust it
function analysis(each) {
  return h(
    "section",
    { id: each.id, class: "analysis", "aria-labelledby": `${each.id}-title` },
    h(
      "div",
      { class: "about" },
      h("h2", { id: `${each.id}-title` }, each.title),
      h("p", { class: "verdict" }, each.verdict),
      h("p", {}, each.lead),
      notes(each.notes),
      h("p", { class: "small quiet" }, "More of this: ", h("code", {}, `gainful ${each.command}`)),
    ),
    h(
      "div",
      {},
      figures(each.figures),
      each.tables.map((table) => framed(table, table.title || each.title)),
    ),
  );
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
          contents.measures.map((each) => [h("dt", { class: "id" }, brief(each.name)), h("dd", {}, each.headline)]),
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

document.title = `${contents.title || shortPath(contents.qrels)} – gainful report`;
put(
  document.getElementById("page"),
  head(),
  toolbar(),
  section(
    "leaderboard",
    "Who wins?",
    "Mean scores with their confidence intervals by the t-distribution, which knows no bounds: of few topics they may leave the range of a measure. The head of a column sorts by it; the measure chosen above decides the place and the picture on the right.",
    leaderboard(),
  ),
  section("significance", "Is it real?", null, significance()),
  section(
    "heat",
    "Every topic",
    "One cell per run and topic. Choose a cell to see its ranking taken apart, the name of a run to order topics by its scores, a topic to order the runs. Arrow keys move, Enter opens.",
    heat(),
  ),
  made.length > 0 && h("div", { class: "trust" }, h("p", { class: "eyebrow" }, "How far to trust it"), measureChips()),
  made.map(analysis),
  made.length < contents.analyses.length && section("lacking", "Not computed, and why", null, lacking()),
  section("again", "How to repeat it", null, again()),
  h(
    "footer",
    {},
    `Made by gainful ${contents.version}. This page holds everything that it shows and asks nothing of any network.`,
  ),
);
document.documentElement.dataset.ready = "true";
