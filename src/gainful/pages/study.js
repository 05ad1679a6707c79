// A study: the exhibits of a paper, reproduced.
const kindOf = (values) =>
  values.every((value) => value === null || typeof value === "number")
    ? values.every((value) => value === null || Number.isInteger(value))
      ? "count"
      : "score"
    : "text";

// What the paper prints, below our number.
function besides(kind, ends) {
  if (!ends) return null;
  const [low, high] = ends.map((end) => shown[kind](end));
  return h("span", { class: "ends" }, `paper ${low === high ? low : `${low} to ${high}`}`);
}

function numbers(each, rows, beside, label) {
  const columns = each.columns.map((name, at) => {
    const kind = kindOf([...each.rows, ...each.published].map((row) => row[at]));
    const text = (row) => (kind === "text" && row[at] !== null ? String(row[at]) : row[at]);
    const cell = (row) => [shown[kind](text(row)), beside && besides(kind, beside[rows.indexOf(row)][at])];
    return { name, kind, key: text, cell };
  });
  return boxed(sortable(columns, rows, { label }), { name: `Numbers: ${label}`, classes: rows.length > 12 ? "some" : "" });
}

function exhibit(each) {
  const printed = each.published.length > 0;
  const table = each.rows.length > 0 && numbers(each, each.rows, printed ? each.beside : null, each.title);
  const paper = printed && numbers(each, each.published, null, `${each.title}, in the paper`);
  return h(
    "section",
    { id: each.id, class: "analysis", "aria-labelledby": `${each.id}-title` },
    h(
      "div",
      { class: "about" },
      h("p", { class: "eyebrow" }, each.name),
      h("h2", { id: `${each.id}-title` }, each.title),
      h("p", {}, each.text),
    ),
    h(
      "div",
      {},
      each.figure && figures([each.figure]),
      each.figure && table ? h("details", {}, h("summary", {}, "The numbers"), table) : table,
      paper && h("details", {}, h("summary", {}, `${each.name} as the paper prints it`), paper),
    ),
  );
}

const verdictOf = (holds) => (holds === null ? "not decided" : holds ? "holds" : "does not hold");
const verdictClass = (holds) => (holds === null ? "open" : holds ? "holds" : "fails");

// How many findings hold, by collection.
function tally(collection) {
  const here = contents.findings.filter((found) => found.collection === collection);
  const of = (holds) => here.filter((found) => found.holds === holds).length;
  const [held, failed, open] = [of(true), of(false), of(null)];
  const words = [`${held} hold`, failed && `${failed} do not`, open && `${open} not decided`].filter(Boolean);
  return h(
    "li",
    {},
    h("b", {}, `${held} of ${here.length}`),
    h("span", {}, `${here.length === 1 ? "finding" : "findings"} ${here.length === 1 ? "holds" : "hold"} on ${collection}`),
    h(
      "span",
      { class: "parts", role: "img", "aria-label": words.join(", ") },
      [[held, "holds"], [failed, "fails"], [open, "open"]].map(
        ([number, name]) => number > 0 && h("i", { class: name, style: `flex:${number}` }),
      ),
    ),
  );
}

// A link to the exhibit that is named first.
function linked(text) {
  const target = contents.exhibits.find((each) => text === each.name || text.startsWith(`${each.name}:`));
  return target ? [h("a", { href: `#${target.id}` }, target.name), text.slice(target.name.length)] : text || "–";
}

// One row per finding; one column of verdicts per collection.
function findings() {
  const collections = [...new Set(contents.findings.map((found) => found.collection))];
  const claims = [...new Set(contents.findings.map((found) => found.claim))];
  const several = collections.length > 1;
  const head = (name) => h("th", { scope: "col" }, name);
  return h(
    "section",
    { id: "findings", "aria-labelledby": "findings-title" },
    h("h2", { id: "findings-title" }, "What the paper found, and whether it holds here"),
    h("ul", { class: "facts tally" }, collections.map(tally)),
    boxed(
      h(
        "table",
        { class: "findings" },
        h("caption", { class: "sr" }, "Findings"),
        h("thead", {}, h("tr", {}, head("Finding"), head("Paper"), collections.map((name) => head(several ? name : "Here")))),
        h(
          "tbody",
          {},
          claims.map((claim) => {
            const same = contents.findings.filter((found) => found.claim === claim);
            return h(
              "tr",
              {},
              h("th", { scope: "row" }, claim),
              h("td", { "data-head": "Paper" }, linked(same[0].paper)),
              collections.map((name) => {
                const found = same.find((one) => one.collection === name);
                return h(
                  "td",
                  { "data-head": several ? name : "Here" },
                  found && h("span", { class: `verdict ${verdictClass(found.holds)}` }, verdictOf(found.holds)),
                  found ? h("span", { class: "evidence" }, found.evidence) : "–",
                );
              }),
            );
          }),
        ),
      ),
      { name: "Findings", classes: "wide" },
    ),
  );
}

// Authors: title, where it appeared. What is written otherwise stays as it is.
const cited = contents.paper.match(/^(.*?): (.*), ([^,]*)$/);
const headline = cited ? cited[2] : contents.paper || contents.study;

document.title = `${headline} – gainful study`;
put(
  document.getElementById("page"),
  h(
    "header",
    { class: "head" },
    h(
      "div",
      { class: "top" },
      h(
        "div",
        {},
        h("p", { class: "eyebrow" }, `gainful study ${contents.study}`),
        h("h1", {}, headline),
        cited && h("p", { class: "quiet" }, `${cited[1]}, ${cited[3]}`),
        h("p", { class: "quiet" }, `Reproduced on ${contents.collections.join(", ")}.`),
      ),
      themeButton(),
    ),
    h(
      "nav",
      { "aria-label": "Contents" },
      h(
        "ul",
        { class: "contents" },
        contents.findings.length > 0 && h("li", {}, h("a", { href: "#findings" }, "Findings")),
        contents.exhibits.map((each) => h("li", {}, h("a", { href: `#${each.id}` }, each.name))),
        h("li", {}, h("a", { href: "#repeat" }, "How to repeat it")),
      ),
    ),
  ),
  contents.findings.length > 0 && findings(),
  contents.notes.length > 0 && h("section", {}, h("h2", {}, "About the data"), notes(contents.notes)),
  contents.exhibits.map(exhibit),
  Object.keys(contents.absent).length > 0 &&
    h(
      "section",
      {},
      h("h2", {}, "Not computed, and why"),
      h(
        "ul",
        { class: "notes" },
        Object.entries(contents.absent).map(([name, why]) => h("li", {}, h("b", {}, name), `: ${why}`)),
      ),
    ),
  h(
    "section",
    { id: "repeat" },
    h("h2", {}, "How to repeat it"),
    copied(contents.command),
    contents.placeholders &&
      h("p", { class: "small quiet" }, "Words in capitals stand for data that were given in Python, not as files."),
    h(
      "details",
      {},
      h("summary", {}, "All settings"),
      h(
        "dl",
        {},
        Object.entries(contents.settings).map(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))]),
      ),
    ),
  ),
  h(
    "footer",
    {},
    `Made by gainful ${contents.version}. This page holds everything that it shows and asks nothing of any network.`,
  ),
);
document.documentElement.dataset.ready = "true";
