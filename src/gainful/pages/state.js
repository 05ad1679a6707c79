// What is chosen, and what follows from it: which runs are shown, in which order; and the address that says so.
const byName = Object.fromEntries(contents.measures.map((measure) => [measure.name, measure]));
// Scores are packed as whole numbers of little-endian 32 bits: those of each run, then the means of the topics.
const NO_SCORE = -(2 ** 31);
for (const of of Object.values(contents.scores)) {
  if (!of.packed) continue;
  const numbers = new DataView(bytesOf(of.packed).buffer);
  const row = (at) =>
    contents.topics.map((_, topic) => {
      const value = numbers.getInt32(4 * (at * contents.topics.length + topic), true);
      return value === NO_SCORE ? null : value / of.per_unit;
    });
  of.values = contents.systems.map((_, system) => row(system));
  of.topic_means = row(contents.systems.length);
}
const PAIRED_AT_ONCE = 40;
const ROWS_AT_ONCE = 60;
const state = {
  measure: contents.measures[0].name,
  filter: "",
  tags: {}, // by field of what is known of runs, such as team: the value that is asked for
  top: 0,
  each: "", // such a field: of the runs that share its value only the best is shown
  only: false,
  chosen: new Set(),
  every: false,
  baseline: contents.settings.baseline === null ? null : contents.systems.indexOf(contents.settings.baseline),
  a: null,
  b: null,
  rows: "mean",
  columns: "given",
  topics: "",
  part: "all",
  colour: "score",
  opened: null, // a topic that is open: {topic, run}, or without a run for both runs side by side
};
const START = { ...state };
const listeners = [];
function change(values) {
  Object.assign(state, values);
  const names = Object.keys(values);
  for (const { keys, update } of listeners) if (keys.some((key) => names.includes(key))) update();
  writeAddress();
}
function onChange(keys, update) {
  listeners.push({ keys, update });
}
const OF_RUNS = ["measure", "filter", "tags", "top", "each", "only", "chosen"];
function live(keys, make) {
  const box = h("div");
  const update = () => fill(box, make());
  onChange(keys, update);
  update();
  return box;
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
    (system) =>
      knownOf(system).includes(wanted) &&
      Object.entries(state.tags).every(([field, value]) => contents.metadata[field][system] === value) &&
      (!state.only || state.chosen.has(system)),
  );
  if (state.each) {
    const values = contents.metadata[state.each];
    const seen = new Set();
    order = order.filter((system) => !values[system] || (!seen.has(values[system]) && seen.add(values[system])));
  }
  return state.top ? order.slice(0, state.top) : order;
}

// A name out of many: a menu of some, a search among more.
const LISTED = 40;
function picker({ id, label, names, none = null, keys, value, pick }) {
  const text = (at) => (at === null || at === undefined ? "" : names[at]);
  if (names.length <= LISTED) {
    const select = h(
      "select",
      { id, onchange: () => pick(select.value === "" ? null : Number(select.value)) },
      none !== null && h("option", { value: "" }, none),
      names.map((name, at) => h("option", { value: at }, name)),
    );
    const set = () => {
      select.value = value() ?? "";
    };
    onChange(keys, set);
    set();
    return h("label", {}, label, select);
  }
  const list = h("datalist", { id: `${id}-names` });
  const suggest = () => {
    const wanted = input.value.trim().toLowerCase();
    const found = [];
    for (let at = 0; at < names.length && found.length < 20; at += 1)
      if (names[at].toLowerCase().includes(wanted)) found.push(names[at]);
    fill(
      list,
      found.map((name) => h("option", { value: name })),
    );
    return found;
  };
  const input = h("input", {
    type: "search",
    id,
    list: `${id}-names`,
    autocomplete: "off",
    placeholder: none ?? "part of a name",
    onfocus: () => suggest(),
    oninput: () => {
      suggest();
      const at = names.indexOf(input.value);
      if (at >= 0) pick(at);
      else if (!input.value && none !== null) pick(null);
    },
    onchange: () => {
      const found = suggest();
      if (names.includes(input.value)) return;
      if (input.value && found.length) pick(names.indexOf(found[0]));
      input.value = text(value());
    },
  });
  const set = () => {
    if (document.activeElement !== input) input.value = text(value());
  };
  onChange(keys, set);
  set();
  return h("label", {}, label, input, list);
}

// The address holds what was chosen: whoever opens it sees the same.
const placeOf = (list, name) => (list.includes(name) ? list.indexOf(name) : null);
const ADDRESS = {
  measure: [() => (state.measure === contents.measures[0].name ? null : state.measure), (text) => byName[text] && text],
  ...Object.fromEntries(
    ["filter", "topics"].map((name) => [name, [() => state[name] || null, (text) => text]]),
  ),
  top: [() => state.top || null, (text) => Number(text) || 0],
  each: [() => state.each || null, (text) => Object.hasOwn(contents.metadata, text) && text],
  only: [() => (state.only ? "yes" : null), () => true],
  ...Object.fromEntries(
    ["a", "b", "baseline"].map((name) => [
      name,
      [
        () => (state[name] === null || state[name] === START[name] ? null : contents.systems[state[name]]),
        (text) => placeOf(contents.systems, text),
      ],
    ]),
  ),
  ...Object.fromEntries(
    ["rows", "columns", "part", "colour"].map((name) => [
      name,
      [() => (state[name] === START[name] ? null : state[name]), (text) => text],
    ]),
  ),
  topic: [() => state.opened && contents.topics[state.opened.topic], () => undefined],
  run: [() => state.opened && state.opened.run !== null && contents.systems[state.opened.run], () => undefined],
};

let place = null; // the section that was gone to
function address() {
  const words = new URLSearchParams();
  if (place) words.set("at", place);
  for (const [name, [text]] of Object.entries(ADDRESS)) {
    const value = text();
    if (value !== null && value !== undefined && value !== false) words.set(name, value);
  }
  for (const [field, value] of Object.entries(state.tags)) words.append(`is.${field}`, value);
  for (const system of state.chosen) words.append("tick", contents.systems[system]);
  return words.toString();
}
let reading = false;
function writeAddress() {
  if (reading) return;
  const text = address();
  if (text !== location.hash.slice(1)) history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
}
function readAddress() {
  const text = location.hash.slice(1);
  const words = new URLSearchParams(text.includes("=") ? text : text && `at=${text}`);
  const values = { ...START, chosen: new Set(), tags: {} };
  for (const [name, [, value]] of Object.entries(ADDRESS)) {
    const given = words.get(name);
    const found = given === null ? undefined : value(given);
    if (found !== undefined && found !== null && found !== false) values[name] = found;
  }
  for (const field of Object.keys(contents.metadata))
    if (words.get(`is.${field}`)) values.tags[field] = words.get(`is.${field}`);
  for (const name of words.getAll("tick")) {
    const system = contents.systems.indexOf(name);
    if (system >= 0) values.chosen.add(system);
  }
  const topic = placeOf(contents.topics, words.get("topic"));
  const opened = topic === null ? null : { topic, run: placeOf(contents.systems, words.get("run")) };
  place = words.get("at");
  return { values, opened };
}
