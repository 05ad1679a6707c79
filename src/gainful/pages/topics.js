// Every topic
const MANY_TOPICS = 60;
const PARTS = { all: "all", hardest: "the 50 hardest", easiest: "the 50 easiest", disputed: "the 50 most disputed" };

function spreads(values) {
  return contents.topics.map((_, topic) => {
    const known = values.map((row) => row[topic]).filter((value) => value !== null);
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    return known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / known.length;
  });
}

function topicsShown() {
  const { values, topic_means: difficulty } = contents.scores[state.measure];
  const direction = sign(state.measure);
  const wanted = state.topics.trim().toLowerCase();
  const finds = (topic) =>
    contents.topics[topic].toLowerCase().includes(wanted) || (queryOf(topic) || "").toLowerCase().includes(wanted);
  let topics = [...contents.topics.keys()].filter(finds);
  const sorted = (list, up) =>
    [...topics].sort((a, b) => (list[a] === null) - (list[b] === null) || up * (list[a] - list[b]) || a - b);
  if (state.part !== "all") {
    const [list, up] =
      state.part === "disputed" ? [spreads(values), -1] : [difficulty, state.part === "hardest" ? direction : -direction];
    const kept = new Set(sorted(list, up).slice(0, 50));
    topics = topics.filter((topic) => kept.has(topic));
  }
  if (state.columns === "hardest") return sorted(difficulty, direction);
  if (state.columns === "easiest") return sorted(difficulty, -direction);
  if (state.columns === "name") return topics.sort((a, b) => natural(contents.topics[a], contents.topics[b]));
  if (state.columns.startsWith("run:")) return sorted(values[Number(state.columns.slice(4))] || difficulty, -direction);
  return topics;
}

function runsInRows() {
  const { values } = contents.scores[state.measure];
  const order = systemsShown();
  if (state.rows === "name") return order.sort((a, b) => natural(contents.systems[a], contents.systems[b]));
  if (!state.rows.startsWith("topic:")) return order;
  const topic = Number(state.rows.slice(6));
  return order.sort(
    (a, b) =>
      (values[a][topic] === null) - (values[b][topic] === null) ||
      sign(state.measure) * (values[b][topic] - values[a][topic]),
  );
}

// A menu of a few ways to order; an order by one of many, chosen in the picture, is the last entry while it holds.
function orderMenu(id, key, options, prefix, names) {
  const select = h("select", { id, onchange: () => change({ [key]: select.value }) });
  const set = () => {
    const extra = state[key].startsWith(prefix)
      ? { [state[key]]: `the scores ${prefix === "run:" ? "of" : "on topic"} ${names[Number(state[key].slice(prefix.length))]}` }
      : {};
    fill(
      select,
      Object.entries({ ...options, ...extra }).map(([value, text]) => h("option", { value }, text)),
    );
    select.value = state[key];
  };
  onChange([key], set);
  set();
  return select;
}

function topicControls() {
  const find = h("input", {
    type: "search",
    id: "find-topics",
    placeholder: contents.queries ? "part of an id or text" : "part of an id",
    autocomplete: "off",
    oninput: () => change({ topics: find.value }),
  });
  const setFind = () => {
    if (document.activeElement !== find) find.value = state.topics;
  };
  onChange(["topics"], setFind);
  setFind();
  const ways = { given: "as judged", name: "id", hardest: "difficulty, hardest first", easiest: "difficulty, easiest first" };
  const part = simpleMenu("part-topics", "part", PARTS);
  const shade = simpleMenu("colour-by", "colour", {
    score: "the score",
    topic: "difference from the topic's mean",
    baseline: "difference from the baseline",
  });
  return h(
    "div",
    { class: "controls" },
    h("label", {}, "Order runs by", orderMenu("order-runs", "rows", { mean: "their mean", name: "their name" }, "topic:", contents.topics)),
    h("label", {}, "Order topics by", orderMenu("order-topics", "columns", ways, "run:", contents.systems)),
    h("label", {}, "Find topics", find),
    contents.topics.length > 50 && h("label", {}, "Show topics", part),
    contents.systems.length > 1 && h("label", {}, "Colour by", shade),
  );
}

function simpleMenu(id, key, options) {
  const select = h(
    "select",
    { id, onchange: () => change({ [key]: select.value }) },
    Object.entries(options).map(([value, text]) => h("option", { value }, text)),
  );
  const set = () => {
    select.value = state[key];
  };
  onChange([key], set);
  set();
  return select;
}

function topicsSection() {
  const picture = live([...OF_RUNS, "baseline", "rows", "columns", "topics", "part", "colour"], () => {
    const [order, topics] = [runsInRows(), topicsShown()];
    if (!order.length || !topics.length)
      return absent(order.length ? "No topic is called that." : "No run is called that.");
    if (state.colour === "baseline" && state.baseline === null)
      return [absent("Choose a baseline above, or another colour."), heatMap(order, topics, resort)];
    return heatMap(order, topics, resort);
  });
  const many = contents.topics.length > MANY_TOPICS;
  return [many && h("div", { class: "columns wide" }, live(OF_RUNS, strips), live(["measure"], histogram)), topicControls(), picture];
}

function resort(values, key) {
  change(values);
  const again = [...document.querySelectorAll("#heat button")].find((button) => button.dataset.key === key);
  if (again) again.focus();
}

// How the scores of a run are spread over many topics.
const STRIPS = 20;
function strips() {
  const systems = systemsShown().slice(0, STRIPS);
  const { values } = contents.scores[state.measure];
  const found = systems.map((system) => {
    const known = Float64Array.from(values[system].filter((value) => value !== null)).sort();
    return [0.1, 0.25, 0.5, 0.75, 0.9].map((share) => known[Math.min(known.length - 1, Math.floor(share * known.length))]);
  });
  const every = found.flat().filter((value) => value !== undefined);
  if (!every.length) return null;
  const axis = axisOf(Math.min(...every), Math.max(...every));
  const rows = systems.map((system, at) => {
    const [p10, p25, p50, p75, p90] = found[at];
    if (p50 === undefined) return null;
    const part = (tag, low, high) => {
      const piece = h(tag);
      piece.style.left = `${axis.share(low)}%`;
      if (high !== undefined) piece.style.width = `${axis.share(high) - axis.share(low)}%`;
      return piece;
    };
    const text = `median ${number(p50, 3)}; half of the topics from ${number(p25, 3)} to ${number(p75, 3)}, four in five from ${number(p10, 3)} to ${number(p90, 3)}`;
    const strip = h("div", { class: "range strip", role: "img", "aria-label": text, title: text }, part("i", p10, p90), part("u", p25, p75), part("b", p50));
    strip.style.background = axis.lines;
    return h("div", { class: "line" }, h("span", { class: "id cut", title: contents.systems[system] }, contents.systems[system]), strip);
  });
  return h(
    "div",
    { class: "strips" },
    h("h3", {}, "How scores are spread over topics"),
    h("p", { class: "small quiet" }, `Median, middle half and middle four fifths of ${brief(state.measure)}${systems.length === STRIPS ? `, of the first ${STRIPS} runs` : ""}.`),
    h("div", { class: "lines two-of" }, h("div", { class: "line" }, h("span"), axis.labels), rows),
  );
}

function histogram() {
  const known = contents.scores[state.measure].topic_means.filter((value) => value !== null);
  if (!known.length) return null;
  const [low, high] = known.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
  const marks = ticks(low, high, 8);
  const bins = 24;
  const width = (marks.at(-1) - marks[0]) / bins;
  const counts = new Array(bins).fill(0);
  for (const value of known) counts[Math.min(bins - 1, Math.max(0, Math.floor((value - marks[0]) / width)))] += 1;
  const most = Math.max(...counts);
  const columns = counts.map((number_, at) => {
    const ends = `${number(marks[0] + at * width, 3)} to ${number(marks[0] + (at + 1) * width, 3)}: ${number_} topics`;
    const column = h("i", { title: ends });
    column.style.height = `${(100 * number_) / most}%`;
    return column;
  });
  const axis = axisOf(marks[0], marks.at(-1));
  return h(
    "div",
    { class: "histogram" },
    h("h3", {}, "How hard the topics are"),
    h("p", { class: "small quiet" }, `Topics by the mean ${brief(state.measure)} of all runs; the highest bar has ${most}.`),
    h("div", { class: "columns-of", role: "img", "aria-label": `${known.length} topics by the mean of all runs, from ${number(low, 3)} to ${number(high, 3)}` }, columns),
    axis.labels,
  );
}
