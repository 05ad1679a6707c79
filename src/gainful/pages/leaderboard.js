// Who wins?
function leaderboard() {
  return live(() => {
    const current = compared(state.measure);
    const shownSystems = systemsShown();
    const place = new Map(bestFirst(means(state.measure), sign(state.measure)).map((system, at) => [system, at + 1]));
    const ends = current
      ? [Math.min(...current.low.filter((x) => x !== null)), Math.max(...current.high.filter((x) => x !== null))]
      : [0, 1];
    const columns = [
      {
        name: "",
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
        key: (system) => place.get(system),
        cell: (system) => place.get(system),
        hint: "place by the measure that is chosen above",
      },
      {
        name: "run",
        kind: "text",
        class: "name id",
        key: (system) => contents.systems[system],
        cell: (system) => contents.systems[system],
      },
      ...Object.entries(contents.metadata).map(([name, values]) => ({
        name,
        kind: "text",
        class: "name",
        key: (system) => values[system],
        cell: (system) => values[system],
      })),
      ...contents.measures.map(({ name }) => {
        const values = means(name);
        const known = values.filter((value) => value !== null);
        const best =
          byName[name].higher === "neither" || known.length < 2
            ? null
            : sign(name) > 0
              ? Math.max(...known)
              : Math.min(...known);
        const found = compared(name);
        const text = summaryText(name);
        return {
          name,
          kind: "score",
          key: (system) => values[system],
          class: name === state.measure ? "current" : "",
          cell: (system) =>
            h(
              "span",
              { class: values[system] !== null && values[system] === best ? "best" : "" },
              text(values[system]),
              found &&
                byName[name].summary === "mean" &&
                h("span", { class: "ends" }, `${number(found.low[system], 3)} – ${number(found.high[system], 3)}`),
            ),
        };
      }),
      ...(current
        ? [
            {
              name: `${byName[state.measure].summary === "sum" ? "mean of " : ""}${brief(state.measure)}, ${percentText(contents.settings.confidence)} interval`,
              kind: "score",
              class: "interval",
              key: (system) => current.mean[system],
              under: h(
                "span",
                { class: "axis", "aria-hidden": "true" },
                h("span", {}, number(ends[0], 2)),
                h("span", {}, number(ends[1], 2)),
              ),
              cell: (system) => range(current, system, ends),
            },
          ]
        : []),
    ];
    const sorted = 3 + Object.keys(contents.metadata).length + contents.measures.findIndex(({ name }) => name === state.measure);
    const table = sortable(columns, shownSystems, {
      sorted,
      descending: sign(state.measure) > 0,
      label: "Runs and their means",
      rowClass: (system) => (state.chosen.has(system) ? "chosen" : ""),
    });
    return shownSystems.length
      ? boxed(table, { name: "Leaderboard", classes: "wide tall" })
      : absent("No run is called that.");
  });
}
const percentText = (value) => `${Number((100 * value).toPrecision(4))} %`;

const ticked = h("span");
function countTicked() {
  fill(ticked, `only those ticked (${state.chosen.size})`);
}

function tick(system, box) {
  if (box.checked) state.chosen.add(system);
  else state.chosen.delete(system);
  countTicked();
  box.closest("tr").classList.toggle("chosen", box.checked);
  if (!state.only) return; // nothing else changes, and the table stays sorted as it is
  const at = box.getAttribute("aria-label");
  change({});
  const again = [...document.querySelectorAll("#leaderboard input")].find(
    (input) => input.getAttribute("aria-label") === at,
  );
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
  return h(
    "div",
    {
      class: "range",
      role: "img",
      "aria-label": `${number(of.mean[system])}, ${number(of.low[system])} to ${number(of.high[system])}`,
    },
    line,
    dot,
  );
}
