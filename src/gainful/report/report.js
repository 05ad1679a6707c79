// The report: who wins, whether it is real, every topic, how far to trust it all.
const byName = Object.fromEntries(contents.measures.map((measure) => [measure.name, measure]));
const SHOWN_AT_ONCE = 12000;
const state = { measure: contents.measures[0].name, filter: "", top: 0, only: false, chosen: new Set(), rows: "mean", columns: "given", topics: "", some: 0 };
const listeners = [];
function change(values) { Object.assign(state, values); for (const listener of listeners) listener(); }
function live(make) {
  const box = h("div");
  const update = () => fill(box, make());
  listeners.push(update);
  update();
  return box;
}

const sign = (name) => (byName[name].higher === "worse" ? -1 : 1);
const means = (name) => contents.scores[name].summary;
const compared = (name) => (contents.comparison.measures || {})[name];
const summaryText = (name) => (byName[name].summary === "sum" ? plain : number);

function bestFirst(values, direction) {
  return [...values.keys()].sort((a, b) => (values[a] === null) - (values[b] === null) || direction * (values[b] - values[a]) || a - b);
}

function systemsShown() {
  const wanted = state.filter.trim().toLowerCase();
  let order = bestFirst(means(state.measure), sign(state.measure));
  order = order.filter((system) => contents.systems[system].toLowerCase().includes(wanted) && (!state.only || state.chosen.has(system)));
  return state.top ? order.slice(0, state.top) : order;
}

// The file and its folder: more of a path is for the command line below.
const shortPath = (path) => path.split("/").slice(-2).join("/");

function head() {
  const most = Math.max(...contents.labels.map(([, number]) => number), 1);
  const bars = contents.labels.map(([label, number]) => {
    const kind = label < 0 ? "bad" : label > 0 ? "" : "zero";
    const column = h("i", { class: kind, title: `label ${plain(label)}: ${count(number)}` });
    column.style.height = `${Math.max(2, (100 * number) / most)}%`;
    return column;
  });
  const labels = contents.labels.length <= 12 ? h("li", {},
    h("div", { class: "labels", role: "img", "aria-label": `Judgments by label: ${contents.labels.map(([label, number]) => `${plain(label)}: ${number}`).join(", ")}` }, bars),
    h("div", { class: "label-names quiet", "aria-hidden": "true" }, contents.labels.map(([label]) => h("span", {}, plain(label))))) : null;
  const fact = (value, name) => h("li", {}, h("b", {}, count(value)), h("span", {}, name));
  const plural = (value, name) => fact(value, value === 1 ? name : `${name}s`);
  return h("header", { class: "head" },
    h("div", {}, h("p", { class: "eyebrow" }, "gainful report"), h("h1", { title: contents.qrels }, shortPath(contents.qrels))),
    h("ul", { class: "facts" }, plural(contents.systems.length, "run"), plural(contents.topics.length, "topic"), plural(contents.judgments, "judgment"), plural(contents.measures.length, "measure"), labels),
    contents.findings.length ? h("div", { class: "short" }, h("h2", {}, "In short"), h("ul", {}, contents.findings.map((text) => h("li", {}, text)))) : null,
    notes(contents.notes),
    h("nav", { "aria-label": "Contents" }, h("ul", { class: "contents" }, [["leaderboard", "Who wins?"], ["significance", "Is it real?"], ["heat", "Every topic"], ...contents.analyses.map((each) => [each.id, each.title]), ["again", "How to repeat it"]]
      .map(([id, text]) => h("li", {}, h("a", { href: `#${id}` }, text))))));
}

function toolbar() {
  const number = contents.systems.length;
  const measure = h("select", { id: "choose-measure", onchange: () => change({ measure: contents.measures[measure.selectedIndex].name }) }, contents.measures.map((each) => h("option", { value: each.name }, brief(each.name))));
  const filter = h("input", { type: "search", id: "find-runs", placeholder: "part of a name", autocomplete: "off", oninput: () => change({ filter: filter.value }) });
  const tops = [5, 10, 20, 50].filter((top) => top < number);
  const top = h("select", { id: "show-best", onchange: () => change({ top: Number(top.value) }) }, h("option", { value: "0" }, `all ${number}`), tops.map((each) => h("option", { value: each }, `the best ${each}`)));
  const only = h("input", { type: "checkbox", id: "only-ticked", onchange: () => change({ only: only.checked }) });
  const chosen = live(() => `only those ticked (${state.chosen.size})`);
  return h("div", { class: "bar", role: "group", "aria-label": "What is shown" },
    h("label", {}, "Measure", measure), number > 1 && h("label", {}, "Find runs", filter), tops.length > 0 && h("label", {}, "Show", top),
    number > 1 && h("label", { class: "check" }, only, chosen), h("span", { class: "spring" }), themeButton());
}

function section(id, title, lead, ...children) {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), lead && h("p", {}, lead), children);
}

// Who wins?
function leaderboard() {
  return live(() => {
    const current = compared(state.measure);
    const shownSystems = systemsShown();
    const place = new Map(bestFirst(means(state.measure), sign(state.measure)).map((system, at) => [system, at + 1]));
    const ends = current ? [Math.min(...current.low.filter((x) => x !== null)), Math.max(...current.high.filter((x) => x !== null))] : [0, 1];
    const columns = [
      { name: "", kind: "text", fixed: true, class: "check", cell: (system) => h("input", { type: "checkbox", "aria-label": `tick ${contents.systems[system]}`, checked: state.chosen.has(system), onchange: (event) => tick(system, event.target.checked) }) },
      { name: "#", kind: "count", key: (system) => place.get(system), cell: (system) => place.get(system), hint: "place by the measure that is chosen above" },
      { name: "run", kind: "text", class: "name id", key: (system) => contents.systems[system], cell: (system) => contents.systems[system] },
      ...contents.measures.map(({ name }) => {
        const values = means(name);
        const known = values.filter((value) => value !== null);
        const best = byName[name].higher === "neither" || known.length < 2 ? null : sign(name) > 0 ? Math.max(...known) : Math.min(...known);
        const found = compared(name);
        const text = summaryText(name);
        return {
          name, kind: "score", key: (system) => values[system], class: name === state.measure ? "current" : "",
          cell: (system) => h("span", { class: values[system] !== null && values[system] === best ? "best" : "" }, text(values[system]), found && byName[name].summary === "mean" && h("span", { class: "ends" }, `${number(found.low[system], 3)} – ${number(found.high[system], 3)}`)),
        };
      }),
      ...(current ? [{ name: `${brief(state.measure)}, ${percentText(contents.settings.confidence)} interval`, kind: "score", class: "interval", key: (system) => current.mean[system], under: h("span", { class: "axis", "aria-hidden": "true" }, h("span", {}, number(ends[0], 2)), h("span", {}, number(ends[1], 2))), cell: (system) => range(current, system, ends) }] : []),
    ];
    const sorted = 3 + contents.measures.findIndex(({ name }) => name === state.measure);
    const table = sortable(columns, shownSystems, { sorted, descending: sign(state.measure) > 0, label: "Runs and their means", rowClass: (system) => (state.chosen.has(system) ? "chosen" : "") });
    return shownSystems.length ? boxed(table, { name: "Leaderboard", classes: "wide tall" }) : absent("No run is called that.");
  });
}
const percentText = (value) => `${Number((100 * value).toPrecision(4))} %`;

function tick(system, on) {
  if (on) state.chosen.add(system); else state.chosen.delete(system);
  const at = document.activeElement && document.activeElement.getAttribute("aria-label");
  change({});
  const again = [...document.querySelectorAll("#leaderboard input")].find((input) => input.getAttribute("aria-label") === at);
  if (again) again.focus();
}

function range(of, system, [from, to]) {
  const share = (value) => (to > from ? (100 * (value - from)) / (to - from) : 50);
  if (of.mean[system] === null || of.low[system] === null) return "–";
  const line = h("i");
  line.style.left = `${share(of.low[system])}%`;
  line.style.width = `${share(of.high[system]) - share(of.low[system])}%`;
  const dot = h("b");
  dot.style.left = `${share(of.mean[system])}%`;
  return h("div", { class: "range", role: "img", "aria-label": `${number(of.mean[system])}, ${number(of.low[system])} to ${number(of.high[system])}` }, line, dot);
}

// Is it real?
const TESTS = { t: "paired t-test", wilcoxon: "Wilcoxon signed-rank test", randomisation: "randomisation test", bootstrap: "studentised bootstrap", tukey: "randomised Tukey HSD" };
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const CORRECTIONS = { holm: "Holm's correction", bonferroni: "Bonferroni's correction", bh: "the correction of Benjamini and Hochberg", none: "no correction", tukey: "its own correction" };

function pairOf(of, row, column) {
  of.places ??= new Map(of.first.map((first, at) => [first * contents.systems.length + of.second[at], at]));
  const n = contents.systems.length;
  const straight = of.places.get(row * n + column);
  if (straight !== undefined) return { at: straight, turned: 1 };
  const turned = of.places.get(column * n + row);
  return turned === undefined ? null : { at: turned, turned: -1 };
}

function pairLines(of, row, column) {
  const { at, turned } = pairOf(of, row, column);
  const [low, high] = turned > 0 ? [of.difference_low[at], of.difference_high[at]] : [-of.difference_high[at], -of.difference_low[at]];
  const [wins, losses] = turned > 0 ? [of.wins[at], of.losses[at]] : [of.losses[at], of.wins[at]];
  const effect = of.effect[at] === null ? "all differences are the same" : `effect size ${number(turned * of.effect[at], 2)}`;
  return [
    `${contents.systems[row]} against ${contents.systems[column]}`,
    `difference in ${brief(state.measure)}: ${number(turned * of.difference[at])} (${number(low)} to ${number(high)})`,
    `${effect}; better on ${wins} topics, equal on ${of.ties[at]}, worse on ${losses}`,
    `p = ${pvalue(of.p[at])}, corrected ${pvalue(of.p_corrected[at])}`,
  ];
}

function significance() {
  const comparison = contents.comparison;
  if (comparison.absent) return absent(comparison.absent);
  const detail = h("div", { class: "detail", "aria-live": "polite" }, h("span", { class: "quiet" }, "Choose a pair for its difference, interval, effect size and p-values."));
  const show = (lines) => fill(detail, h("b", { class: "id" }, lines[0]), lines.slice(1).map((line) => h("div", {}, line)));
  const box = live(() => {
    const of = compared(state.measure);
    if (!of) return absent(`${brief(state.measure)} is a geometric mean over topics, which these tests are not about.`);
    if (comparison.baseline !== null) return against(of, comparison.baseline);
    const order = systemsShown();
    if (order.length < 2) return absent("Two runs at least are needed for a pair.");
    const alpha = contents.settings.alpha;
    const cells = order.map((row) => h("tr", {}, h("th", { scope: "row", class: "id", title: contents.systems[row] }, contents.systems[row]), order.map((column) => {
      if (row === column) return h("td", { class: "same", "aria-label": "the same run" });
      const { at, turned } = pairOf(of, row, column);
      const significant = of.p_corrected[at] < alpha;
      const kind = !significant ? "" : turned * of.direction[at] > 0 ? "win" : turned * of.direction[at] < 0 ? "loss" : "";
      const cell = h("td", { class: kind, "data-row": row, "data-column": column });
      if (kind) cell.style.setProperty("--p", `${of.p_corrected[at] < alpha / 50 ? 88 : of.p_corrected[at] < alpha / 5 ? 62 : 36}%`);
      return cell;
    })));
    const heads = order.map((system) => h("th", { scope: "col", title: contents.systems[system] }, h("span", { class: "upright" }, contents.systems[system])));
    const table = h("table", { class: "grid pairs", role: "grid", "aria-label": "Pairs of runs" }, h("thead", {}, h("tr", {}, h("th", {}, h("span", { class: "sr" }, "run")), heads)), h("tbody", {}, cells));
    table.style.setProperty("--w", `${Math.max(18, Math.min(32, Math.floor(560 / order.length)))}px`);
    gridKeys(table, (cell) => cell.dataset.row === undefined ? ["the same run"] : pairLines(of, Number(cell.dataset.row), Number(cell.dataset.column)), (cell) => { if (cell.dataset.row !== undefined) show(pairLines(of, Number(cell.dataset.row), Number(cell.dataset.column))); });
    return [
      h("div", { class: "key" }, [["win", "88%", "the row's run is significantly better"], ["loss", "88%", "significantly worse"], ["", "0%", "no significant difference"]].map(([kind, share, text]) => {
        const swatch = h("i");
        swatch.style.background = kind ? `color-mix(in oklab, var(--heat-${kind === "win" ? "high" : "bad"}) ${share}, var(--heat-low))` : "var(--heat-low)";
        if (!kind) swatch.style.border = "1px solid var(--line)";
        return h("span", {}, swatch, text);
      }), h("span", {}, `paler: p nearer to ${alpha}`)),
      h("div", { class: "duo" }, boxed(table, { name: "Pairs of runs", classes: "tall" }), detail),
    ];
  });
  const family = contents.comparison.correction;
  return [h("p", {}, `${capital(TESTS[contents.settings.test])} on the topics, p < ${contents.settings.alpha} after ${CORRECTIONS[family]} for all pairs of a measure. Runs are in the order of the leaderboard.`), box, notes(comparison.notes)];
}

function against(of, baseline) {
  const base = contents.systems.indexOf(baseline);
  const rows = systemsShown().filter((system) => system !== base).map((system) => {
    const { at, turned } = pairOf(of, system, base);
    return [contents.systems[system], turned * of.difference[at], of.difference_low[at], of.difference_high[at], of.effect[at], of.wins[at], of.ties[at], of.losses[at], of.p[at], of.p_corrected[at], turned * of.direction[at]];
  });
  const verdict = (row) => (row[9] < contents.settings.alpha ? (row[10] > 0 ? "better" : "worse") : "");
  const columns = [["run", "text"], ["difference", "score"], ["low", "score"], ["high", "score"], ["effect size", "score"], ["wins", "count"], ["ties", "count"], ["losses", "count"], ["p", "p"], ["corrected p", "p"]].map(([name, kind]) => ({ name, kind }));
  columns.push({ name: "significantly", kind: "text", key: verdict, cell: (row) => h("span", { class: verdict(row) === "better" ? "holds" : "fails" }, verdict(row)) });
  return [h("p", {}, "Against the baseline ", h("b", { class: "id" }, baseline), "."), boxed(sortable(columns, rows, { sorted: 1, descending: sign(state.measure) > 0, label: "Runs against the baseline" }), { name: "Runs against the baseline", classes: "tall" })];
}

// Grids: one stop of the Tab key each, arrows inside, hints for mouse and keyboard alike.
function gridKeys(table, describe, choose) {
  const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].filter((cell) => cell.tagName === "TD" && !cell.classList.contains("mean")));
  const start = rows.flat().find((cell) => !cell.classList.contains("same"));
  for (const cell of rows.flat()) { cell.tabIndex = cell === start ? 0 : -1; cell.setAttribute("role", "gridcell"); }
  const where = (cell) => { const row = rows.findIndex((cells) => cells.includes(cell)); return [row, rows[row].indexOf(cell)]; };
  const go = (from, row, column) => {
    const next = (rows[Math.max(0, Math.min(row, rows.length - 1))] || [])[Math.max(0, Math.min(column, rows[0].length - 1))];
    if (!next || next === from) return;
    from.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  };
  const told = (cell) => { const lines = describe(cell); cell.setAttribute("aria-label", lines.join("; ")); hint(cell, lines); };
  table.addEventListener("keydown", (event) => {
    const cell = event.target.closest("td");
    if (!cell) return;
    const [row, column] = where(cell);
    const moves = { ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1], Home: [row, 0], End: [row, Infinity], PageUp: [0, column], PageDown: [Infinity, column] };
    if (event.key in moves) go(cell, ...moves[event.key]);
    else if (event.key === "Enter" || event.key === " ") choose(cell);
    else return;
    event.preventDefault();
  });
  table.addEventListener("focusin", (event) => { const cell = event.target.closest("td.gridcell, td[role]"); if (cell) told(cell); });
  table.addEventListener("focusout", unhint);
  table.addEventListener("pointerover", (event) => { const cell = event.target.closest("td[role]"); if (cell) told(cell); else unhint(); });
  table.addEventListener("pointerleave", unhint);
  table.addEventListener("click", (event) => { const cell = event.target.closest("td[role]"); if (cell) { rows.flat().forEach((each) => { each.tabIndex = -1; }); cell.tabIndex = 0; cell.focus(); choose(cell); } });
}

// Every topic
function topicsShown(order) {
  const { values, topic_means: difficulty } = contents.scores[state.measure];
  const direction = sign(state.measure);
  const wanted = state.topics.trim().toLowerCase();
  let topics = [...contents.topics.keys()].filter((topic) => contents.topics[topic].toLowerCase().includes(wanted));
  const by = (list, up) => topics.sort((a, b) => (list[a] === null) - (list[b] === null) || up * (list[a] - list[b]) || a - b);
  if (state.columns === "hardest") by(difficulty, direction);
  else if (state.columns === "easiest") by(difficulty, -direction);
  else if (state.columns === "name") topics.sort((a, b) => natural(contents.topics[a], contents.topics[b]));
  else if (state.columns.startsWith("run:")) by(values[Number(state.columns.slice(4))], -direction);
  const room = state.some || Math.max(50, Math.floor(SHOWN_AT_ONCE / Math.max(1, order.length)));
  return { topics: topics.slice(0, room), all: topics.length };
}

function heat() {
  const options = (list, name, key) => h("optgroup", { label: name }, list.map((each, at) => h("option", { value: `${key}:${at}` }, each)));
  const selectRows = h("select", { id: "order-runs", onchange: () => change({ rows: selectRows.value }) },
    h("option", { value: "mean" }, "their mean"), h("option", { value: "name" }, "their name"), options(contents.topics, "their score on topic", "topic"));
  const selectColumns = h("select", { id: "order-topics", onchange: () => change({ columns: selectColumns.value }) },
    h("option", { value: "given" }, "as judged"), h("option", { value: "name" }, "id"), h("option", { value: "hardest" }, "difficulty, hardest first"), h("option", { value: "easiest" }, "difficulty, easiest first"),
    options(contents.systems, "the scores of", "run"));
  const find = h("input", { type: "search", id: "find-topics", placeholder: "part of an id", autocomplete: "off", oninput: () => change({ topics: find.value }) });
  const controls = h("div", { class: "controls" }, h("label", {}, "Order runs by", selectRows), h("label", {}, "Order topics by", selectColumns), h("label", {}, "Find topics", find));
  const box = live(() => {
    const topicRow = state.rows.startsWith("topic:") ? Number(state.rows.slice(6)) : null;
    const runColumn = state.columns.startsWith("run:") ? Number(state.columns.slice(4)) : null;
    selectRows.value = state.rows;
    selectColumns.value = state.columns;
    const { values, topic_means: difficulty, summary } = contents.scores[state.measure];
    const direction = sign(state.measure);
    let order = systemsShown();
    if (state.rows === "name") order.sort((a, b) => natural(contents.systems[a], contents.systems[b]));
    else if (topicRow !== null) order.sort((a, b) => (values[a][topicRow] === null) - (values[b][topicRow] === null) || direction * (values[b][topicRow] - values[a][topicRow]));
    const { topics, all } = topicsShown(order);
    if (!order.length || !topics.length) return absent(order.length ? "No topic is called that." : "No run is called that.");
    const known = values.flat().filter((value) => value !== null);
    const lowest = known.reduce((a, b) => Math.min(a, b), 0);
    const highest = known.reduce((a, b) => Math.max(a, b), lowest === 0 && known.every((value) => value <= 1) ? 1 : 0) || 1;
    const scale = (value) => (value >= 0 ? (100 * value) / highest : (100 * value) / lowest);
    const text = summaryText(state.measure);
    const names = Math.min(240, 24 + 8 * Math.max(...order.map((system) => contents.systems[system].length)));
    const room = Math.max(18, Math.min(46, Math.floor((Math.min(1160, document.documentElement.clientWidth - 48) - names - 70) / topics.length)));
    const worse = byName[state.measure].higher === "worse";
    const body = order.map((system) => h("tr", {},
      h("th", { scope: "row", class: "id", title: contents.systems[system] }, h("button", { type: "button", tabindex: "-1", "aria-pressed": String(runColumn === system), title: `order topics by the scores of ${contents.systems[system]}`, onclick: () => resort({ columns: runColumn === system ? "given" : `run:${system}` }, `run:${system}`), "data-key": `run:${system}` }, contents.systems[system])),
      h("td", { class: "mean" }, text(summary[system])),
      topics.map((topic) => {
        const value = values[system][topic];
        const cell = h("td", { "data-system": system, "data-topic": topic, class: value === null ? "gap" : (value < 0) !== worse ? "bad" : "" });
        if (value !== null) {
          const v = Math.max(0, Math.min(100, scale(value)));
          cell.style.setProperty("--v", v.toFixed(1));
          if (v > 55) cell.classList.add("dark");
          if (room >= 40) cell.append(number(value, 2));
        }
        return cell;
      })));
    const heads = topics.map((topic) => h("th", { scope: "col" }, h("button", { type: "button", tabindex: "-1", "aria-pressed": String(topicRow === topic), title: `order runs by topic ${contents.topics[topic]}`, "data-key": `topic:${topic}`, onclick: () => resort({ rows: topicRow === topic ? "mean" : `topic:${topic}` }, `topic:${topic}`) }, contents.topics[topic])));
    const foot = h("tr", {}, h("th", { scope: "row" }, "mean of all runs"), h("td", { class: "mean" }), topics.map((topic) => {
      const cell = h("td", { class: "mean", title: `topic ${contents.topics[topic]}: ${number(difficulty[topic])}` }, room >= 30 ? number(difficulty[topic], 2) : "");
      return cell;
    }));
    const table = h("table", { class: "grid heat", role: "grid", "aria-label": "Scores by run and topic" }, h("thead", {}, h("tr", {}, h("th", {}, h("span", { class: "sr" }, "run")), h("th", { class: "mean" }, byName[state.measure].summary === "sum" ? "sum" : "mean"), heads)), h("tbody", {}, body), room >= 30 && h("tfoot", {}, foot));
    table.style.setProperty("--w", `${room}px`);
    const at = (cell) => [Number(cell.dataset.system), Number(cell.dataset.topic)];
    gridKeys(table, (cell) => {
      const [system, topic] = at(cell);
      return [`${contents.systems[system]}, topic ${contents.topics[topic]}`, `${brief(state.measure)}: ${text(values[system][topic])}`, `mean of all runs on this topic: ${number(difficulty[topic])}`, "Enter or click: the ranking, explained"];
    }, (cell) => openRanking(...at(cell), state.measure, { systems: order, topics }, cell));
    return [
      h("div", { class: "key" }, lowest < 0 && h("span", {}, plain(Number(lowest.toPrecision(3))), h("i", { class: `scale ${worse ? "" : "bad"}`, style: "transform: scaleX(-1)" }), "0"), h("span", {}, "0", h("i", { class: `scale ${worse ? "bad" : ""}` }), plain(Number(highest.toPrecision(3)))),
        known.length < values.length * contents.topics.length && h("span", {}, h("i", { class: "gap" }), "no score"),
        topics.length < all && h("span", {}, `the first ${topics.length} of ${all} topics; `, h("button", { type: "button", onclick: () => change({ some: all }) }, "show all"))),
      boxed(table, { name: "Scores by run and topic", classes: "tall" }),
    ];
  });
  return [controls, box];
}

function resort(values, key) {
  change(values);
  const again = [...document.querySelectorAll("#heat button")].find((button) => button.dataset.key === key);
  if (again) again.focus();
}

// How far to trust it
function analysis(each) {
  const inside = each.absent ? [absent(each.absent)] : [figures(each.figures), framed(each.table, each.title)];
  return h("section", { id: each.id, class: "analysis", "aria-labelledby": `${each.id}-title` },
    h("div", { class: "about" }, h("h2", { id: `${each.id}-title` }, each.title), h("p", {}, each.lead), notes(each.notes), h("p", { class: "small quiet" }, "More of this: ", h("code", {}, `gainful ${each.command}`))),
    h("div", {}, inside));
}

function again() {
  const pairs = (of) => h("dl", {}, Object.entries(of).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value === null ? "none" : String(value))]));
  const lines = [contents.comparison, ...contents.analyses].map((each) => each.line).filter(Boolean);
  return [
    contents.command !== null && [h("h3", {}, "On the command line"), copied(contents.command)],
    h("h3", {}, "In Python"), copied(`import gainful as gf\n${contents.python}.save("report.html")`),
    h("div", { class: "columns" }, h("div", {}, h("h3", {}, "Settings"), pairs({ ...contents.settings, version: contents.version })), h("div", {}, h("h3", {}, "Policies"), pairs(contents.policies)),
      h("div", {}, h("h3", {}, "Measures"), h("dl", {}, contents.measures.map((each) => [h("dt", { class: "id" }, brief(each.name)), h("dd", {}, each.headline)])))),
    h("details", {}, h("summary", {}, "What each analysis did"), h("ul", { class: "notes" }, lines.map((line) => h("li", {}, line)))),
  ];
}

document.title = `${shortPath(contents.qrels)} – gainful report`;
put(document.getElementById("page"),
  head(), toolbar(),
  section("leaderboard", "Who wins?", "Mean scores with their confidence intervals. The head of a column sorts by it; the measure chosen above decides the place and the picture on the right.", leaderboard()),
  section("significance", "Is it real?", null, significance()),
  section("heat", "Every topic", "One cell a run and topic. Choose a cell to see its ranking taken apart, the name of a run to order topics by its scores, a topic to order the runs. Arrow keys move, Enter opens.", heat()),
  h("div", { class: "trust" }, h("p", { class: "eyebrow" }, "How far to trust it"), measureChips()),
  contents.analyses.map(analysis),
  section("again", "How to repeat it", null, again()),
  h("footer", {}, `Made by gainful ${contents.version}. This page holds everything that it shows and asks nothing of any network.`));
document.documentElement.dataset.ready = "true";
