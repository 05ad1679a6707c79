// The first screen: what it is about, who leads and how sure that is, the best runs in a picture; then the bar.
const TOP = 10;

function byline() {
  const { qrels, systems, topics, judgments } = contents;
  const counts = [plural(systems.length, "run"), plural(topics.length, "topic"), plural(judgments, "judgment")];
  const title = contents.title || `${counts[0]} on ${counts[1]}`;
  const facts = [contents.author, contents.date, ...(contents.title ? counts : counts.slice(2))].filter(Boolean);
  return h(
    "div",
    {},
    h("p", { class: "eyebrow" }, "gainful report"),
    h("h1", { title: qrels }, title),
    h("p", { class: "byline" }, facts.map((fact) => h("span", {}, fact)), labelBars()),
  );
}

// How many judgments have each label.
function labelBars() {
  if (contents.labels.length > 12) return null;
  const most = contents.labels.reduce((so, [, number]) => Math.max(so, number), 1);
  const text = contents.labels.map(([label, number]) => `${plain(label)}: ${count(number)}`).join(", ");
  const bars = contents.labels.map(([label, number]) => {
    const column = h("i", { class: label < 0 ? "bad" : label > 0 ? "" : "zero" });
    column.style.height = `${Math.max(8, (100 * number) / most)}%`;
    return column;
  });
  return h("span", { class: "labels", role: "img", title: `judgments by label: ${text}`, "aria-label": `Judgments by label: ${text}` }, bars);
}

// A name with a hyphen goes to the next line as one, unless it is longer than a line.
const unhyphenated = (text) => text.split(/(\s+)/).map((word) => (word.includes("-") ? h("span", {}, word) : word));

function verdict() {
  const of = compared(state.measure);
  const untested = contents.comparison.absent;
  const [large, small] = of ? [of.headline, of.certainty] : [contents.findings[0], untested && `Not tested for significance. ${untested}`];
  return h(
    "div",
    { class: "verdict-large" },
    h("p", { class: "lead", "aria-live": "polite" }, unhyphenated(isolated(large))),
    small && h("p", { class: "quiet" }, isolated(small)),
    contents.notes.length > 0 &&
      h(
        "p",
        { class: "small" },
        h("a", { href: "#notes", onclick: goTo("notes") }, `${contents.notes.length} note${contents.notes.length > 1 ? "s" : ""} on these data`),
      ),
  );
}

function topPlot() {
  const order = bestFirst(means(state.measure), sign(state.measure)).slice(0, TOP);
  const of = compared(state.measure);
  const base = contents.systems.indexOf(contents.comparison.baseline);
  const below = base >= 0 && !order.includes(base);
  const known = [...order, ...(below ? [base] : [])].filter((system) => means(state.measure)[system] !== null);
  if (!known.length) return null;
  const axis = axisOf(...endsOf(state.measure, known));
  const more = contents.systems.length - order.length;
  const [leading, others] =
    base < 0
      ? ["may be best: no other run is shown to be better ", "another run is"]
      : ["significantly better than the baseline ", "not shown to be"];
  return h(
    "div",
    { class: "top-runs", role: "figure", "aria-label": "The first runs" },
    h(
      "p",
      { class: "title" },
      `${more > 0 ? `The first ${order.length} runs${below ? " and the baseline" : ""} by ` : ""}${brief(state.measure)}${of ? `, ${percentText(contents.settings.confidence)} intervals` : ""}`,
    ),
    h(
      "div",
      { class: "lines" },
      known.map((system) =>
        h(
          "div",
          { class: "line" },
          h("span", { class: "id cut", title: contents.systems[system] }, contents.systems[system]),
          range(state.measure, system, axis),
          h("span", {}, number(of ? of.mean[system] : means(state.measure)[system], 3)),
        ),
      ),
      h("div", { class: "line" }, h("span"), axis.labels, h("span")),
    ),
    of && contents.systems.length > 2 && h("p", { class: "hint" }, h("i", { class: "dot" }), leading, h("i", { class: "dot behind" }), others),
  );
}

// Gone to by a link of the page: what is chosen stays in the address.
const goTo = (id) => (event) => {
  const target = document.getElementById(id);
  if (!target) return;
  event.preventDefault();
  place = id;
  writeAddress();
  target.scrollIntoView();
  const title = target.querySelector("h2") || target;
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
};

function navigation(sections) {
  return h(
    "nav",
    { "aria-label": "Contents", class: "sections" },
    h(
      "ul",
      {},
      sections.map(([id, text, title]) => h("li", {}, h("a", { href: `#${id}`, title: title || text, onclick: goTo(id) }, text))),
    ),
  );
}

function linkButton() {
  const button = h(
    "button",
    {
      type: "button",
      title: "Copy the address of this view: measure, runs, pair, topic, filters",
      onclick: async () => {
        writeAddress();
        try {
          await navigator.clipboard.writeText(location.href);
          fill(button, "Copied");
        } catch {
          fill(button, "See the address bar");
        }
        setTimeout(() => fill(button, "Copy link"), 1500);
      },
    },
    "Copy link",
  );
  return button;
}

function toolbar() {
  const total = contents.systems.length;
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
  // A field with a value of its own for nearly every run, such as a description, is no way to group them; a team is.
  const fields = Object.entries(contents.metadata)
    .map(([field, values]) => [field, [...new Set(values.filter(Boolean))].sort(natural)])
    .filter(([field, values]) => values.length > 1 && values.length <= (field === "team" ? total - 1 : total / 2));
  const tops = [5, 10, 20, 50].filter((top) => top < total);
  const top = h(
    "select",
    {
      id: "show-best",
      onchange: () => {
        const [word, field] = top.value.split(/ (.*)/s);
        change(word === "each" ? { top: 0, each: field } : { top: Number(word), each: "" });
      },
    },
    h("option", { value: "0" }, `all ${total}`),
    tops.map((each) => h("option", { value: each }, `the best ${each}`)),
    fields.map(([field]) => h("option", { value: `each ${field}` }, `the best of each ${field}`)),
  );
  const only = h("input", { type: "checkbox", id: "only-ticked", onchange: () => change({ only: only.checked }) });
  const set = () => {
    measure.value = state.measure;
    if (document.activeElement !== filter) filter.value = state.filter;
    top.value = state.each ? `each ${state.each}` : String(state.top);
    only.checked = state.only;
    countTicked();
  };
  onChange(OF_RUNS, set);
  set();
  return h(
    "div",
    { class: "bar", role: "group", "aria-label": "What is shown" },
    h("label", {}, "Measure", measure),
    total > 1 && h("label", {}, "Find runs", filter),
    fields.map(([field, values]) =>
      picker({
        id: `choose-${field}`,
        label: capital(field),
        names: values,
        none: "all",
        keys: ["tags"],
        value: () => placeOf(values, state.tags[field]),
        pick: (at) => {
          const { [field]: _, ...others } = state.tags;
          change({ tags: at === null ? others : { ...others, [field]: values[at] } });
        },
      }),
    ),
    top.length > 1 && h("label", {}, "Show", top),
    total > 1 &&
      picker({
        id: "choose-baseline",
        label: "Baseline",
        names: contents.systems,
        none: "none",
        keys: ["baseline"],
        value: () => state.baseline,
        pick: (at) => change({ baseline: at }),
      }),
    total > 1 && h("label", { class: "check" }, only, ticked),
    h("span", { class: "spring" }),
    h("span", { class: "outer" }, linkButton(), themeButton()),
  );
}
