// A study: the exhibits of a paper, reproduced.
const kindOf = (values) =>
  values.every((value) => value === null || typeof value === "number")
    ? values.every((value) => value === null || Number.isInteger(value))
      ? "count"
      : "score"
    : "text";

function exhibit(each) {
  const rows = each.rows;
  const columns = each.columns.map((name, at) => ({ name, kind: kindOf(rows.map((row) => row[at])) }));
  const asText = rows.map((row) =>
    row.map((value, at) => (columns[at].kind === "text" && value !== null ? String(value) : value)),
  );
  const table = rows.length
    ? boxed(sortable(columns, asText, { label: each.title }), { name: each.title, classes: "tall" })
    : null;
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
    ),
  );
}

const verdictOf = (holds) => (holds === null ? "Not decided" : holds ? "Holds" : "Does not hold");

document.title = `${contents.study} – gainful study`;
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
        h("p", { class: "eyebrow" }, "gainful study"),
        h("h1", {}, contents.study),
        h("p", { class: "quiet" }, contents.paper),
        h("p", { class: "quiet" }, `On ${contents.collections.join(", ")}.`),
      ),
      themeButton(),
    ),
    contents.findings.length > 0 &&
      h(
        "div",
        { class: "short" },
        h("h2", {}, "What the paper found, and whether it holds here"),
        h(
          "ul",
          {},
          contents.findings.map((found) =>
            h(
              "li",
              {},
              h("span", { class: found.holds ? "holds" : "fails" }, verdictOf(found.holds)),
              ` on ${found.collection}: ${found.claim} `,
              h("span", { class: "quiet" }, `(${found.evidence})`),
            ),
          ),
        ),
      ),
    notes(contents.notes),
    h(
      "nav",
      { "aria-label": "Contents" },
      h(
        "ul",
        { class: "contents" },
        contents.exhibits.map((each) => h("li", {}, h("a", { href: `#${each.id}` }, each.name))),
      ),
    ),
  ),
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
    {},
    h("h2", {}, "How to repeat it"),
    copied(contents.command),
    h(
      "dl",
      {},
      Object.entries(contents.settings).map(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))]),
    ),
  ),
  h(
    "footer",
    {},
    `Made by gainful ${contents.version}. This page holds everything that it shows and asks nothing of any network.`,
  ),
);
document.documentElement.dataset.ready = "true";
