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

function pairOf(of, row, column) {
  of.places ??= new Map(of.first.map((first, at) => [first * contents.systems.length + of.second[at], at]));
  const n = contents.systems.length;
  const straight = of.places.get(row * n + column);
  if (straight !== undefined) return { at: straight, turned: 1 };
  const turned = of.places.get(column * n + row);
  return turned === undefined ? null : { at: turned, turned: -1 };
}

// What a higher score is: some measures, such as counts, are for or against nobody.
const words = () => (byName[state.measure].higher === "neither" ? ["higher", "lower"] : ["better", "worse"]);

function pairLines(of, row, column) {
  const { at, turned } = pairOf(of, row, column);
  const [low, high] =
    turned > 0 ? [of.difference_low[at], of.difference_high[at]] : [-of.difference_high[at], -of.difference_low[at]];
  const [wins, losses] = turned > 0 ? [of.wins[at], of.losses[at]] : [of.losses[at], of.wins[at]];
  const effect =
    of.effect[at] === null ? "all differences are the same" : `effect size ${number(turned * of.effect[at], 2)}`;
  const [better, worse] = words();
  const equals = (value) => (value < 0.0001 ? pvalue(value) : `= ${pvalue(value)}`);
  return [
    `${contents.systems[row]} against ${contents.systems[column]}`,
    `difference in ${brief(state.measure)}: ${number(turned * of.difference[at])} (${number(low)} to ${number(high)})`,
    `${effect}; ${better} on ${wins} topics, equal on ${of.ties[at]}, ${worse} on ${losses}`,
    `p ${equals(of.p[at])}, corrected ${pvalue(of.p_corrected[at])}`,
  ];
}

function significance() {
  const comparison = contents.comparison;
  if (comparison.absent) return absent(comparison.absent);
  const detail = h(
    "div",
    { class: "detail", "aria-live": "polite" },
    h("span", { class: "quiet" }, "Choose a pair for its difference, interval, effect size and p-values."),
  );
  const show = (lines) =>
    fill(
      detail,
      h("b", { class: "id" }, lines[0]),
      lines.slice(1).map((line) => h("div", {}, line)),
    );
  const box = live(() => {
    const of = compared(state.measure);
    if (!of) return absent(`${brief(state.measure)} is a geometric mean over topics, which these tests are not about.`);
    if (comparison.baseline !== null) return against(of, comparison.baseline);
    const all = systemsShown();
    const order = state.everyPair ? all : all.slice(0, PAIRED_AT_ONCE);
    if (order.length < 2) return absent("Two runs at least are needed for a pair.");
    const alpha = contents.settings.alpha;
    const cells = order.map((row) =>
      h(
        "tr",
        {},
        h("th", { scope: "row", class: "id", title: contents.systems[row] }, contents.systems[row]),
        order.map((column) => {
          if (row === column) return h("td", { class: "same", "aria-label": "the same run" });
          const { at, turned } = pairOf(of, row, column);
          const significant = of.p_corrected[at] < alpha;
          const kind = !significant
            ? ""
            : turned * of.direction[at] > 0
              ? "win"
              : turned * of.direction[at] < 0
                ? "loss"
                : "";
          const cell = h("td", { class: kind, "data-row": row, "data-column": column });
          if (kind)
            cell.style.setProperty(
              "--p",
              `${of.p_corrected[at] < alpha / 50 ? 88 : of.p_corrected[at] < alpha / 5 ? 62 : 36}%`,
            );
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
    table.style.setProperty("--w", `${Math.max(18, Math.min(32, Math.floor(560 / order.length)))}px`);
    gridKeys(
      table,
      (cell) =>
        cell.dataset.row === undefined
          ? ["the same run"]
          : pairLines(of, Number(cell.dataset.row), Number(cell.dataset.column)),
      (cell) => {
        if (cell.dataset.row !== undefined) show(pairLines(of, Number(cell.dataset.row), Number(cell.dataset.column)));
      },
    );
    return [
      h(
        "div",
        { class: "key" },
        [
          ["win", "88%", `the row's run is significantly ${words()[0]}`],
          ["loss", "88%", `significantly ${words()[1]}`],
          ["", "0%", "no significant difference"],
        ].map(([kind, share, text]) => {
          const swatch = h("i");
          swatch.style.background = kind
            ? `color-mix(in oklab, var(--heat-${kind === "win" ? "high" : "bad"}) ${share}, var(--heat-low))`
            : "var(--heat-low)";
          if (!kind) swatch.style.border = "1px solid var(--line)";
          return h("span", {}, swatch, text);
        }),
        h("span", {}, `paler: p nearer to ${alpha}`),
        order.length < all.length &&
          h(
            "span",
            {},
            `the first ${order.length} of ${all.length} runs; `,
            h("button", { type: "button", onclick: () => showAll({ everyPair: true }, "significance") }, "show all"),
          ),
      ),
      h("div", { class: "duo" }, boxed(table, { name: "Pairs of runs", classes: "tall" }), detail),
    ];
  });
  const family = contents.comparison.correction;
  const tested =
    comparison.baseline === null
      ? "for all pairs of a measure. Runs are in the order of the leaderboard."
      : "for all runs that a measure compares with the baseline.";
  return [
    h(
      "p",
      {},
      `${capital(TESTS[contents.settings.test])} on the topics, p < ${contents.settings.alpha} after ${CORRECTIONS[family]} ${tested}`,
    ),
    box,
  ];
}

function against(of, baseline) {
  const base = contents.systems.indexOf(baseline);
  const rows = systemsShown()
    .filter((system) => system !== base)
    .map((system) => {
      const { at, turned } = pairOf(of, system, base);
      return [
        contents.systems[system],
        turned * of.difference[at],
        of.difference_low[at],
        of.difference_high[at],
        of.effect[at],
        of.wins[at],
        of.ties[at],
        of.losses[at],
        of.p[at],
        of.p_corrected[at],
        turned * of.direction[at],
      ];
    });
  const verdict = (row) => (row[9] < contents.settings.alpha ? words()[row[10] > 0 ? 0 : 1] : "");
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
  ].map(([name, kind]) => ({ name, kind }));
  columns.push({
    name: "significantly",
    kind: "text",
    key: verdict,
    cell: (row) => h("span", { class: row[10] > 0 ? "holds" : "fails" }, verdict(row)),
  });
  return [
    h("p", {}, "Against the baseline ", h("b", { class: "id" }, baseline), "."),
    boxed(
      sortable(columns, rows, { sorted: 1, descending: sign(state.measure) > 0, label: "Runs against the baseline" }),
      { name: "Runs against the baseline", classes: "tall" },
    ),
  ];
}
