// What is chosen, and what follows from it: which runs are shown, in which order.
const byName = Object.fromEntries(contents.measures.map((measure) => [measure.name, measure]));
const SHOWN_AT_ONCE = 12000;
const PAIRED_AT_ONCE = 100;
const state = {
  measure: contents.measures[0].name,
  filter: "",
  top: 0,
  only: false,
  chosen: new Set(),
  rows: "mean",
  columns: "given",
  topics: "",
  some: 0,
  everyPair: false,
};
const listeners = [];
function change(values) {
  Object.assign(state, values);
  for (const listener of listeners) listener();
}
function live(make) {
  const box = h("div");
  const update = () => fill(box, make());
  listeners.push(update);
  update();
  return box;
}

// All of what was cut short; the button that asked for it is gone, so the grid has the focus.
function showAll(values, section) {
  change(values);
  document.querySelector(`#${section} td[tabindex="0"]`).focus();
}

const sign = (name) => (byName[name].higher === "worse" ? -1 : 1);
const means = (name) => contents.scores[name].summary;
const compared = (name) => (contents.comparison.measures || {})[name];
const summaryText = (name) => (byName[name].summary === "sum" ? plain : number);

function bestFirst(values, direction) {
  return [...values.keys()].sort(
    (a, b) => (values[a] === null) - (values[b] === null) || direction * (values[b] - values[a]) || a - b,
  );
}

// What the filter looks at: the name of a run, its team and whatever else is known of it.
const knownOf = (system) =>
  [contents.systems[system], ...Object.values(contents.metadata).map((values) => values[system])].join(" ").toLowerCase();

function systemsShown() {
  const wanted = state.filter.trim().toLowerCase();
  let order = bestFirst(means(state.measure), sign(state.measure));
  order = order.filter(
    (system) => knownOf(system).includes(wanted) && (!state.only || state.chosen.has(system)),
  );
  return state.top ? order.slice(0, state.top) : order;
}
