// Is it real?
const TESTS = {
  t: "paired t-test",
  wilcoxon: "Wilcoxon signed-rank test",
  randomisation: "randomisation test",
  bootstrap: "studentised bootstrap",
  tukey: "randomised Tukey HSD",
};
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const CORRECTIONS = {
  holm: "Holm's correction",
  bonferroni: "Bonferroni's correction",
  bh: "the correction of Benjamini and Hochberg",
  none: "no correction",
  tukey: "its own correction",
};

// Pairs of many runs are packed: per measure the ends of intervals, then p-values in 1/10,000; the corrected one also
// holds whether it is significant, and which side is better.
const [UNITS, SIGNIFICANT, WORSE] = [10000, 1 << 15, 1 << 14];
async function loadPairs() {
  if (!document.getElementById("packed-pairs")) return;
  const bytes = await unpackedBytes("pairs");
  let at = 0;
  const next = (Kind, length) => {
    const part = new Kind(bytes.slice(at, at + length * Kind.BYTES_PER_ELEMENT));
    at += part.byteLength;
    return part;
  };
  for (const of of Object.values(contents.comparison.measures)) {
    if (!of.pairs) continue;
    const ends = [next(Float32Array, of.pairs), next(Float32Array, of.pairs)];
    of.packed = { ends, p: next(Uint16Array, of.pairs), told: next(Uint16Array, of.pairs) };
  }
  change({ pairs: true });
}

function packedPair(name, of, row, column) {
  const n = contents.systems.length;
  const [one, two] = row < column ? [row, column] : [column, row];
  const at = one * n - (one * (one + 1)) / 2 + two - one - 1;
  const turned = row < column ? 1 : -1;
  const { ends, p, told } = of.packed;
  const [low, high] = turned > 0 ? [ends[0][at], ends[1][at]] : [-ends[1][at], -ends[0][at]];
  const { values } = contents.scores[name];
  let [wins, ties, losses] = [0, 0, 0];
  for (let topic = 0; topic < contents.topics.length; topic += 1) {
    if (values[row][topic] === null || values[column][topic] === null) continue;
    const better = sign(name) * (values[row][topic] - values[column][topic]);
    if (better > 0) wins += 1;
    else if (better < 0) losses += 1;
    else ties += 1;
  }
  return {
    difference: of.mean[row] - of.mean[column],
    ...{ low, high, wins, ties, losses },
    p: p[at] / UNITS,
    corrected: (told[at] & (WORSE - 1)) / UNITS,
    significant: Boolean(told[at] & SIGNIFICANT),
    direction: told[at] & WORSE ? -turned : turned,
  };
}

// What the tests say of two runs, from the first one's side; null where they were not tested.
function pair(name, row, column) {
  const of = compared(name);
  if (!of || row === column) return null;
  if (of.packed) return packedPair(name, of, row, column);
  if (!of.first) return null;
  const n = contents.systems.length;
  of.places ??= new Map(of.first.map((first, at) => [first * n + of.second[at], at]));
  const straight = of.places.get(row * n + column);
  const at = straight ?? of.places.get(column * n + row);
  if (at === undefined) return null;
  const turned = straight === undefined ? -1 : 1;
  const [low, high] = [of.difference_low[at], of.difference_high[at]];
  return {
    difference: turned * of.difference[at],
    ...(turned > 0 ? { low, high } : { low: high === null ? null : -high, high: low === null ? null : -low }),
    effect: of.effect[at] === null ? null : turned * of.effect[at],
    wins: turned > 0 ? of.wins[at] : of.losses[at],
    ties: of.ties[at],
    losses: turned > 0 ? of.losses[at] : of.wins[at],
    p: of.p[at],
    corrected: of.p_corrected[at],
    significant: of.p_corrected[at] < contents.settings.alpha,
    direction: turned * of.direction[at],
  };
}

// What a higher score is: some measures, such as counts, are for or against nobody.
const words = (name) => (byName[name].higher === "neither" ? ["higher", "lower"] : ["better", "worse"]);

function pairLines(name, row, column) {
  const title = `${contents.systems[row]} against ${contents.systems[column]}`;
  const found = pair(name, row, column);
  if (!found) return [title, `These two were not tested in ${brief(name)}.`];
  const effect =
    found.effect === undefined
      ? ""
      : found.effect === null
        ? "all differences are the same; "
        : `effect size ${number(found.effect, 2)}; `;
  const [better, worse] = words(name);
  const equals = (value) => (value < 0.0001 ? pvalue(value) : `= ${pvalue(value)}`);
  return [
    title,
    `difference in ${brief(name)}: ${number(found.difference)} (${number(found.low)} to ${number(found.high)})`,
    `${effect}${better} on ${plural(found.wins, "topic")}, equal on ${count(found.ties)}, ${worse} on ${count(found.losses)}`,
    `p ${equals(found.p)}, corrected ${pvalue(found.corrected)} (${TESTS[contents.settings.test]})`,
  ];
}

// What the sections on pairs say of their test, so that no two of them can be taken for the same.
function testLine() {
  const { comparison, settings } = contents;
  const of = compared(state.measure);
  const test = `${capital(TESTS[settings.test])} on the topics, p < ${settings.alpha}`;
  const differ = (runs) => `${runs} in ${brief(state.measure)}.`;
  if (comparison.baseline === null && of.tested === 1)
    return `${test}. ${differ(of.significant ? "The two runs differ" : "The two runs are not shown to differ")}`;
  const some = of.significant ? `${count(of.significant)} of them differ${of.significant === 1 ? "s" : ""}` : "None of them differs";
  const tested =
    comparison.baseline === null
      ? `for the ${count(of.tested)} pairs of runs. ${differ(some)}`
      : "for all runs that a measure compares with the baseline.";
  return `${test} after ${CORRECTIONS[comparison.correction]} ${tested}`;
}

function significance() {
  const { comparison } = contents;
  if (comparison.absent) return absent(comparison.absent);
  return live([...OF_RUNS, "pairs"], () => {
    const of = compared(state.measure);
    if (!of) return absent(`${brief(state.measure)} is a geometric mean over topics, which these tests are not about.`);
    const systems = systemsShown();
    const line = h("p", {}, testLine());
    if (comparison.baseline !== null) return [line, against(comparison.baseline)];
    if (systems.length < 2) return [line, absent("Two runs at least are needed for a pair.")];
    return [line, systems.length > PAIRED_AT_ONCE || !(of.first || of.packed) ? tiers(of, systems) : matrix(systems)];
  });
}

function pairDetail() {
  return live(["measure", "a", "b", "pairs"], () => {
    if (state.a === null || state.b === null)
      return h("p", { class: "detail quiet" }, "Choose a pair for its difference, interval, effect size and p-values.");
    const lines = pairLines(state.measure, state.a, state.b);
    return h(
      "div",
      { class: "detail", "aria-live": "polite" },
      h("b", { class: "id" }, lines[0]),
      lines.slice(1).map((text) => h("div", {}, text)),
      h("a", { href: "#beside", onclick: goTo("beside") }, "topic by topic"),
    );
  });
}

// Few runs: every pair is a cell.
function matrix(order) {
  const { alpha } = contents.settings;
  const cells = order.map((row) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", class: "id", title: contents.systems[row] }, contents.systems[row]),
      order.map((column) => {
        if (row === column) return h("td", { class: "same", "aria-label": "the same run" });
        const found = pair(state.measure, row, column);
        const kind = !found || !found.significant || !found.direction ? "" : found.direction > 0 ? "win" : "loss";
        const cell = h("td", { class: kind, "data-row": row, "data-column": column });
        if (kind) {
          const share = found.corrected < alpha / 50 ? 88 : found.corrected < alpha / 5 ? 62 : 36;
          cell.style.setProperty("--p", `${share}%`);
        }
        return cell;
      }),
    ),
  );
  const heads = order.map((system) =>
    h(
      "th",
      { scope: "col", title: contents.systems[system] },
      h("span", { class: "upright" }, contents.systems[system]),
    ),
  );
  const table = h(
    "table",
    { class: "grid pairs", role: "grid", "aria-label": "Pairs of runs" },
    h("thead", {}, h("tr", {}, h("th", {}, h("span", { class: "sr" }, "run")), heads)),
    h("tbody", {}, cells),
  );
  table.style.setProperty("--w", `${Math.max(14, Math.min(32, Math.floor(640 / order.length)))}px`);
  const at = (cell) => [Number(cell.dataset.row), Number(cell.dataset.column)];
  gridKeys(
    table,
    (cell) => (cell.dataset.row === undefined ? ["the same run"] : pairLines(state.measure, ...at(cell))),
    (cell) => {
      if (cell.dataset.row !== undefined) change({ a: at(cell)[0], b: at(cell)[1] });
    },
  );
  const [better, worse] = words(state.measure);
  const key = [
    ["win", `the row's run is significantly ${better}`],
    ["loss", `significantly ${worse}`],
    ["", "no significant difference"],
  ];
  return [
    h(
      "div",
      { class: "key pairs-key" },
      key.map(([kind, text]) => h("span", {}, h("i", { class: kind || "none" }), text)),
      h("span", {}, `paler: p nearer to ${alpha}`),
    ),
    h("div", { class: "duo" }, boxed(table, { name: "Pairs of runs", classes: "tall" }), pairDetail()),
  ];
}

// Many runs: groups of those that are not told apart.
const IN_A_GROUP = 24;
function tiers(of, systems) {
  const groups = new Map();
  for (const system of systems) groups.set(of.groups[system], [...(groups.get(of.groups[system]) || []), system]);
  const order = [...groups].sort(([one], [two]) => one - two);
  const name = (leader) => (system) =>
    h(
      "button",
      { type: "button", class: `run id${system === leader ? " leader" : ""}`, title: `${contents.systems[system]}: ${number(of.mean[system])}`, onclick: () => change({ a: leader, b: system === leader ? systems.find((each) => each !== leader) : system }) },
      contents.systems[system],
    );
  const rows = order.map(([group, members]) => {
    const leader = bestFirst(of.mean, sign(state.measure)).find((system) => of.groups[system] === group);
    const box = h("div", { class: "members" }, members.slice(0, IN_A_GROUP).map(name(leader)));
    if (members.length > IN_A_GROUP) {
      const more = h(
        "button",
        {
          type: "button",
          class: "slim",
          onclick: () => {
            more.remove();
            put(box, members.slice(IN_A_GROUP).map(name(leader)));
            box.children[IN_A_GROUP].focus();
          },
        },
        `and ${members.length - IN_A_GROUP} more`,
      );
      box.append(more);
    }
    const values = members.map((system) => of.mean[system]);
    const ends = `${number(Math.max(...values), 3)} to ${number(Math.min(...values), 3)}`;
    return h("li", {}, h("div", { class: "of" }, h("b", {}, `Group ${group}`), ` ${members.length} run${members.length > 1 ? "s" : ""}, ${ends}`), box);
  });
  const first = h(
    "p",
    { class: "small quiet" },
    "Group 1 is the best run and all that it is not significantly better than; the best of the others leads group 2 in the same way, and so on. Choose a run to set it against the leader of its group.",
  );
  return [first, h("ol", { class: "tiers" }, rows), pairDetail()];
}

function against(baseline) {
  const base = contents.systems.indexOf(baseline);
  const rows = systemsShown()
    .filter((system) => system !== base)
    .map((system) => {
      const found = pair(state.measure, system, base);
      const { difference, low, high, effect, wins, ties, losses, p, corrected, significant, direction } = found;
      const verdict = significant ? words(state.measure)[direction > 0 ? 0 : 1] : "";
      return [contents.systems[system], difference, low, high, effect, wins, ties, losses, p, corrected, verdict];
    });
  const columns = [
    ["run", "text"],
    ["difference", "score"],
    ["low", "score"],
    ["high", "score"],
    ["effect size", "score"],
    ["wins", "count"],
    ["ties", "count"],
    ["losses", "count"],
    ["p", "p"],
    ["corrected p", "p"],
    ["significantly", "text"],
  ].map(([name, kind]) => ({ name, kind }));
  const good = words(state.measure)[0];
  columns.at(-1).key = (row) => row[10];
  columns.at(-1).cell = (row) => h("span", { class: row[10] === good ? "holds" : "fails" }, row[10]);
  return [
    h("p", {}, "Against the baseline ", h("b", { class: "id" }, baseline), "."),
    boxed(
      sortable(columns, rows, { sorted: 1, descending: sign(state.measure) > 0, label: "Runs against the baseline" }),
      { name: "Runs against the baseline", classes: "tall" },
    ),
    tableExports("against the baseline", () => ({ columns, rows })),
  ];
}
