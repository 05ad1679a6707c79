// Every topic
function topicsShown(order) {
  const { values, topic_means: difficulty } = contents.scores[state.measure];
  const direction = sign(state.measure);
  const wanted = state.topics.trim().toLowerCase();
  let topics = [...contents.topics.keys()].filter((topic) => contents.topics[topic].toLowerCase().includes(wanted));
  const by = (list, up) =>
    topics.sort((a, b) => (list[a] === null) - (list[b] === null) || up * (list[a] - list[b]) || a - b);
  if (state.columns === "hardest") by(difficulty, direction);
  else if (state.columns === "easiest") by(difficulty, -direction);
  else if (state.columns === "name") topics.sort((a, b) => natural(contents.topics[a], contents.topics[b]));
  else if (state.columns.startsWith("run:")) by(values[Number(state.columns.slice(4))], -direction);
  const room = state.some || Math.max(50, Math.floor(SHOWN_AT_ONCE / Math.max(1, order.length)));
  return { topics: topics.slice(0, room), all: topics.length };
}

function heat() {
  const options = (list, name, key) =>
    h(
      "optgroup",
      { label: name },
      list.map((each, at) => h("option", { value: `${key}:${at}` }, each)),
    );
  const selectRows = h(
    "select",
    { id: "order-runs", onchange: () => change({ rows: selectRows.value }) },
    h("option", { value: "mean" }, "their mean"),
    h("option", { value: "name" }, "their name"),
    options(contents.topics, "their score on topic", "topic"),
  );
  const selectColumns = h(
    "select",
    { id: "order-topics", onchange: () => change({ columns: selectColumns.value }) },
    h("option", { value: "given" }, "as judged"),
    h("option", { value: "name" }, "id"),
    h("option", { value: "hardest" }, "difficulty, hardest first"),
    h("option", { value: "easiest" }, "difficulty, easiest first"),
    options(contents.systems, "the scores of", "run"),
  );
  const find = h("input", {
    type: "search",
    id: "find-topics",
    placeholder: "part of an id",
    autocomplete: "off",
    oninput: () => change({ topics: find.value }),
  });
  const controls = h(
    "div",
    { class: "controls" },
    h("label", {}, "Order runs by", selectRows),
    h("label", {}, "Order topics by", selectColumns),
    h("label", {}, "Find topics", find),
  );
  const box = live(() => {
    const topicRow = state.rows.startsWith("topic:") ? Number(state.rows.slice(6)) : null;
    const runColumn = state.columns.startsWith("run:") ? Number(state.columns.slice(4)) : null;
    selectRows.value = state.rows;
    selectColumns.value = state.columns;
    const { values, topic_means: difficulty, summary } = contents.scores[state.measure];
    const direction = sign(state.measure);
    let order = systemsShown();
    if (state.rows === "name") order.sort((a, b) => natural(contents.systems[a], contents.systems[b]));
    else if (topicRow !== null)
      order.sort(
        (a, b) =>
          (values[a][topicRow] === null) - (values[b][topicRow] === null) ||
          direction * (values[b][topicRow] - values[a][topicRow]),
      );
    const { topics, all } = topicsShown(order);
    if (!order.length || !topics.length)
      return absent(order.length ? "No topic is called that." : "No run is called that.");
    const known = values.flat().filter((value) => value !== null);
    const lowest = known.reduce((a, b) => Math.min(a, b), 0);
    const highest =
      known.reduce((a, b) => Math.max(a, b), lowest === 0 && known.every((value) => value <= 1) ? 1 : 0) || 1;
    const scale = (value) => (value >= 0 ? (100 * value) / highest : (100 * value) / lowest);
    const text = summaryText(state.measure);
    const names = Math.min(240, 24 + 8 * Math.max(16, ...order.map((system) => contents.systems[system].length)));
    const room = Math.max(
      18,
      Math.min(
        46,
        Math.floor((Math.min(1160, document.documentElement.clientWidth - 48) - names - 70) / topics.length),
      ),
    );
    const worse = byName[state.measure].higher === "worse";
    const body = order.map((system) =>
      h(
        "tr",
        {},
        h(
          "th",
          { scope: "row", class: "id", title: contents.systems[system] },
          h(
            "button",
            {
              type: "button",
              tabindex: "-1",
              "aria-pressed": String(runColumn === system),
              title: `order topics by the scores of ${contents.systems[system]}`,
              onclick: () => resort({ columns: runColumn === system ? "given" : `run:${system}` }, `run:${system}`),
              "data-key": `run:${system}`,
            },
            contents.systems[system],
          ),
        ),
        h("td", { class: "mean" }, text(summary[system])),
        topics.map((topic) => {
          const value = values[system][topic];
          const cell = h("td", {
            "data-system": system,
            "data-topic": topic,
            class: value === null ? "gap" : value < 0 !== worse ? "bad" : "",
          });
          if (value !== null) {
            cell.style.setProperty("--v", Math.max(0, Math.min(100, scale(value))).toFixed(1));
            if (room >= 40) cell.append(number(value, 2));
          }
          return cell;
        }),
      ),
    );
    const heads = topics.map((topic) =>
      h(
        "th",
        { scope: "col" },
        h(
          "button",
          {
            type: "button",
            tabindex: "-1",
            "aria-pressed": String(topicRow === topic),
            title: `order runs by topic ${contents.topics[topic]}`,
            "data-key": `topic:${topic}`,
            onclick: () => resort({ rows: topicRow === topic ? "mean" : `topic:${topic}` }, `topic:${topic}`),
          },
          contents.topics[topic],
        ),
      ),
    );
    const foot = h(
      "tr",
      {},
      h("th", { scope: "row" }, "mean of all runs"),
      h("td", { class: "mean" }),
      topics.map((topic) => {
        const cell = h(
          "td",
          { class: "mean", title: `topic ${contents.topics[topic]}: ${number(difficulty[topic])}` },
          room >= 30 ? number(difficulty[topic], 2) : "",
        );
        return cell;
      }),
    );
    const table = h(
      "table",
      { class: "grid heat", role: "grid", "aria-label": "Scores by run and topic" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", {}, h("span", { class: "sr" }, "run")),
          h("th", { class: "mean" }, byName[state.measure].summary === "sum" ? "sum" : "mean"),
          heads,
        ),
      ),
      h("tbody", {}, body),
      room >= 30 && h("tfoot", {}, foot),
    );
    table.style.setProperty("--w", `${room}px`);
    const at = (cell) => [Number(cell.dataset.system), Number(cell.dataset.topic)];
    gridKeys(
      table,
      (cell) => {
        const [system, topic] = at(cell);
        return [
          `${contents.systems[system]}, topic ${contents.topics[topic]}`,
          `${brief(state.measure)}: ${text(values[system][topic])}`,
          `mean of all runs on this topic: ${number(difficulty[topic])}`,
          "Enter or click: the ranking, explained",
        ];
      },
      (cell) => openRanking(...at(cell), state.measure, { systems: order, topics }, cell),
    );
    return [
      h(
        "div",
        { class: "key" },
        lowest < 0 &&
          h(
            "span",
            {},
            plain(Number(lowest.toPrecision(3))),
            h("i", { class: `scale ${worse ? "" : "bad"}`, style: "transform: scaleX(-1)" }),
            "0",
          ),
        h("span", {}, "0", h("i", { class: `scale ${worse ? "bad" : ""}` }), plain(Number(highest.toPrecision(3)))),
        known.length < values.length * contents.topics.length && h("span", {}, h("i", { class: "gap" }), "no score"),
        topics.length < all &&
          h(
            "span",
            {},
            `the first ${topics.length} of ${all} topics; `,
            h("button", { type: "button", onclick: () => showAll({ some: all }, "heat") }, "show all"),
          ),
      ),
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
