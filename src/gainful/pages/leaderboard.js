// Who wins?
const percentText = (value) => `${Number((100 * value).toPrecision(4))}%`;

// Round numbers from below the lowest to above the highest.
function ticks(low, high, most = 5) {
  if (!(high > low)) return [low - 0.5, low, low + 0.5];
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

// One axis for all rows: what lies where on it, its ticks as text, and as lines behind the rows.
function axisOf(low, high) {
  const marks = ticks(low, high);
  const [from, to] = [marks[0], marks.at(-1)];
  const share = (value) => (100 * (value - from)) / (to - from);
  const labels = h("div", { class: "axis", "aria-hidden": "true" });
  for (const mark of marks) {
    const label = h("span", {}, plain(mark));
    label.style.left = `${share(mark)}%`;
    labels.append(label);
  }
  const line = (at) => `linear-gradient(var(--line), var(--line)) ${at}% 0 / 1px 100% no-repeat`;
  return { share, labels, lines: marks.map((mark) => line(share(mark).toFixed(2))).join(", ") };
}

function endsOf(name, systems) {
  const of = compared(name);
  const lows = of ? of.low : means(name);
  const highs = of ? of.high : means(name);
  const known = (list) => systems.map((system) => list[system]).filter((value) => value !== null);
  return [Math.min(...known(lows)), Math.max(...known(highs))];
}

// Whether another run is shown to be better; in a comparison with a baseline, whether it is not shown to be better than that.
function isBehind(name, system) {
  const { baseline } = contents.comparison;
  if (baseline === null) return compared(name).place_low[system] > 1;
  const found = pair(name, system, contents.systems.indexOf(baseline));
  return !found || !found.significant || found.direction <= 0;
}

function range(name, system, axis) {
  const of = compared(name);
  const mean = of ? of.mean[system] : means(name)[system];
  if (mean === null || mean === undefined) return "–";
  const [low, high] = of ? [of.low[system], of.high[system]] : [mean, mean];
  const line = h("i");
  if (low !== null && high !== null) {
    line.style.left = `${axis.share(low)}%`;
    line.style.width = `${axis.share(high) - axis.share(low)}%`;
  }
  const dot = h("b");
  dot.style.left = `${axis.share(mean)}%`;
  const text = of ? `${number(mean)} (${number(low)} to ${number(high)})` : number(mean);
  const behind = of && isBehind(name, system) ? " behind" : "";
  const box = h("div", { class: `range${behind}`, role: "img", "aria-label": text, title: text }, line, dot);
  box.style.background = axis.lines;
  return box;
}

// What is the same for all runs only takes room.
const tells = ([, known]) => known.length < 2 || new Set(known).size > 1;

const placesOf = (of, system) =>
  of.place_low[system] === of.place_high[system]
    ? String(of.place_low[system])
    : `${of.place_low[system]}–${of.place_high[system]}`;

// The difference from the baseline that was chosen on the page.
function delta(name, system) {
  const base = state.baseline;
  const values = means(name);
  if (base === system) return h("span", { class: "quiet" }, "baseline");
  if (values[system] === null || values[base] === null) return "–";
  const found = pair(name, system, base);
  const kind = !found || !found.significant ? "" : found.direction > 0 ? "holds" : "fails";
  const text = byName[name].summary === "sum" ? plain : number;
  const difference = values[system] - values[base];
  const mark = kind && h("span", { class: "sr" }, ` significantly ${words(name)[found.direction > 0 ? 0 : 1]}`);
  return h("span", { class: kind }, `${difference > 0 ? "+" : ""}${text(difference)}`, kind && " *", mark);
}

// A phone shows scores first, and what else is known of runs after them.
const phone = matchMedia("(max-width: 640px)");
const inTurn = (columns) =>
  phone.matches ? [...columns.filter(({ aside }) => !aside), ...columns.filter(({ aside }) => aside)] : columns;

function boardColumns(current, placed, axis) {
  const grouped = current && current.groups && new Set(current.groups).size > 1;
  const values = means(state.measure);
  return [
    {
      name: "",
      under: h("span", { class: "sr" }, "ticked"),
      kind: "text",
      fixed: true,
      class: "check",
      cell: (system) =>
        h("input", {
          type: "checkbox",
          "aria-label": `tick ${contents.systems[system]}`,
          checked: state.chosen.has(system),
          onchange: (event) => tick(system, event.target),
        }),
    },
    {
      name: "#",
      kind: "count",
      key: (system) => placed.get(system),
      cell: (system) => placed.get(system),
      hint: "place by the measure that is chosen above",
    },
    current &&
      contents.comparison.baseline === null && {
        name: "places",
        aside: true,
        kind: "count",
        key: (system) => current.place_low[system],
        cell: (system) => placesOf(current, system),
        hint: `the places that a run may have, at ${percentText(contents.settings.confidence)} confidence`,
      },
    grouped && {
      name: "group",
      aside: true,
      kind: "count",
      key: (system) => current.groups[system],
      cell: (system) => current.groups[system],
      hint: "group 1: the best run, and all that it is not significantly better than; then the same among the others",
    },
    {
      name: "run",
      kind: "text",
      class: "name id",
      key: (system) => contents.systems[system],
      cell: (system) => contents.systems[system],
    },
    ...Object.entries(contents.metadata).filter(tells).map(([name, known]) => ({
      name,
      aside: true,
      kind: "text",
      key: (system) => known[system],
      cell: (system) => known[system],
    })),
    ...contents.measures.map(({ name }) => meanColumn(name)),
    state.baseline !== null && {
      name: `difference in ${brief(state.measure)}`,
      kind: "score",
      key: (system) => values[system] - values[state.baseline],
      cell: (system) => delta(state.measure, system),
      hint: "from the baseline that is chosen above; *: significant",
    },
    {
      name: contents.judged.name,
      kind: "share",
      key: (system) => contents.judged.shares[system],
      cell: (system) => {
        const share = contents.judged.shares[system];
        return h("span", { class: share !== null && share < 0.5 ? "fails" : "" }, percent(share));
      },
      hint: "the share of the first documents that are judged (0 in a topic that a run has not): what is not counts as not relevant",
    },
    {
      name: `${byName[state.measure].summary === "sum" ? "mean of " : ""}${brief(state.measure)}${current ? `, ${percentText(contents.settings.confidence)} interval` : ""}`,
      kind: "score",
      class: "interval",
      key: (system) => (current ? current.mean : values)[system],
      under: axis.labels,
      cell: (system) => range(state.measure, system, axis),
    },
  ].filter(Boolean);
}

function meanColumn(name) {
  const values = means(name);
  const known = values.filter((value) => value !== null);
  const ends = known.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  const best = byName[name].higher === "neither" || known.length < 2 ? null : ends[sign(name) > 0 ? 1 : 0];
  const text = summaryText(name);
  return {
    name,
    kind: "score",
    key: (system) => values[system],
    class: name === state.measure ? "current" : "",
    cell: (system) =>
      h("span", { class: values[system] !== null && values[system] === best ? "best" : "" }, text(values[system])),
  };
}

function leaderboard() {
  const board = live([...OF_RUNS, "every", "baseline", "pairs"], () => {
    const systems = systemsShown();
    if (!systems.length) return absent("No run is called that.");
    const current = compared(state.measure);
    const placed = new Map(bestFirst(means(state.measure), sign(state.measure)).map((system, at) => [system, at + 1]));
    const axis = axisOf(...endsOf(state.measure, systems));
    const columns = inTurn(boardColumns(current, placed, axis));
    const most = state.every ? Infinity : ROWS_AT_ONCE;
    const table = sortable(columns, systems, {
      sorted: columns.findIndex(({ name }) => name === state.measure),
      descending: sign(state.measure) > 0,
      label: "Runs and their means",
      rowClass: (system) =>
        `${state.chosen.has(system) ? "chosen" : ""} ${current && current.groups && current.groups[system] % 2 === 0 ? "band" : ""}`,
      most,
    });
    return [
      boxed(table, { name: "Leaderboard", classes: "wide tall" }),
      h(
        "div",
        { class: "under" },
        systems.length > most &&
          h(
            "span",
            { class: "small quiet" },
            `${most} of ${systems.length} runs `,
            h("button", { type: "button", class: "slim", onclick: () => change({ every: true }) }, `show all ${systems.length}`),
          ),
        state.baseline !== null &&
          contents.comparison.baseline === null &&
          h(
            "span",
            { class: "small quiet" },
            `* significant by ${TESTS[contents.settings.test]}, p < ${contents.settings.alpha} after ${CORRECTIONS[contents.comparison.correction]} for all pairs of runs`,
          ),
        tableExports("leaderboard", () => boardData(systems, placed, current)),
      ),
    ];
  });
  return board;
}

// What CSV and LaTeX have of it: all runs that are shown, with the ends of their intervals.
function boardData(systems, placed, current) {
  const values = means(state.measure);
  const of = (name, kind, value) => ({ name, kind, value });
  const columns = [
    of("place", "count", (system) => placed.get(system)),
    of("run", "text", (system) => contents.systems[system]),
    ...Object.entries(contents.metadata).map(([name, known]) => of(name, "text", (system) => known[system])),
    ...contents.measures.map(({ name }) => of(name, "score", (system) => means(name)[system])),
    current && of("low", "score", (system) => current.low[system]),
    current && of("high", "score", (system) => current.high[system]),
    current && of("places", "text", (system) => placesOf(current, system)),
    current && current.groups && of("group", "count", (system) => current.groups[system]),
    state.baseline !== null && of("difference", "signed", (system) => values[system] - values[state.baseline]),
    of(contents.judged.name, "score", (system) => contents.judged.shares[system]),
  ].filter(Boolean);
  return { columns, rows: systems.map((system) => columns.map(({ value }) => value(system))) };
}

const ticked = h("span");
function countTicked() {
  fill(ticked, `only those ticked (${state.chosen.size})`);
}

function tick(system, box) {
  if (box.checked) state.chosen.add(system);
  else state.chosen.delete(system);
  countTicked();
  box.closest("tr").classList.toggle("chosen", box.checked);
  writeAddress();
  if (!state.only) return; // nothing else changes, and the table stays sorted as it is
  const at = box.getAttribute("aria-label");
  change({ chosen: state.chosen });
  const again = [...document.querySelectorAll("#leaderboard input")].find(
    (input) => input.getAttribute("aria-label") === at,
  );
  if (again) again.focus();
}
