// Scores by run and topic: a picture that fits the width however many there are.
const rgbOf = (text) => {
  const pen = (rgbOf.pen ??= h("canvas").getContext("2d", { willReadFrequently: true }));
  pen.fillStyle = text;
  pen.fillRect(0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
};

// What a cell's colour says: the score within the range that occurs, or the difference from a mean or a run.
function shades(order, topics) {
  const { values, topic_means: means_ } = contents.scores[state.measure];
  const direction = sign(state.measure);
  const base = state.colour === "baseline" && state.baseline !== null ? values[state.baseline] : null;
  const from = base ? (topic) => base[topic] : state.colour === "topic" ? (topic) => means_[topic] : null;
  let [low, high] = [Infinity, -Infinity];
  const data = order.map((system) =>
    topics.map((topic) => {
      const value = values[system][topic];
      const other = from ? from(topic) : 0;
      if (value === null || other === null) return null;
      const told = value - other;
      if (told < low) low = told;
      if (told > high) high = told;
      return told;
    }),
  );
  if (low > high) [low, high] = [0, 1];
  const signed = Boolean(from) || low < 0;
  const size = signed ? Math.max(-low, high) || 1 : high - low || 1;
  // From -1, the worst, to 1, the best; where nothing is below 0, from 0.
  const better = from ? direction : 1;
  const share = (value) => (signed ? (better * value) / size : (value - low) / size);
  const bad = !signed && direction < 0;
  return { data, share, signed, bad, size, low, high };
}

function palette(bad) {
  const [low, high, worst, gap] = ["heat-low", "heat-high", "heat-bad", "gap"].map((name) => rgbOf(colour(name)));
  const mix = (one, two, share) => one.map((value, at) => Math.round(value + (two[at] - value) * share));
  return (share) => (share === null ? gap : share < 0 ? mix(low, worst, -share) : mix(low, bad ? worst : high, share));
}
// White or black, whichever stands out.
function inkOn([red, green, blue]) {
  const light = (x) => (x <= 10 ? x / 3294 : ((x / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * light(red) + 0.7152 * light(green) + 0.0722 * light(blue) > 0.179 ? "#000" : "#fff";
}

const HEAT = { tallest: 780, name: 14, label: 14, written: 38 };
function heatMap(order, topics, resort) {
  const { values, topic_means: difficulty, summary } = contents.scores[state.measure];
  const text = summaryText(state.measure);
  const { data, share, signed, bad, size, low, high } = shades(order, topics);
  const row = Math.max(2, Math.min(22, HEAT.tallest / order.length));
  const named = row >= HEAT.name;
  const names = h("div", { class: "names" });
  const tops = h("div", { class: "tops" });
  const canvas = h("canvas", {
    tabindex: "0",
    role: "application",
    "aria-roledescription": "heat map",
    "aria-label": `Scores by run and topic: ${order.length} runs, ${topics.length} topics. Arrow keys move, Enter opens.`,
    "aria-describedby": "heat-told",
  });
  const cursor = h("div", { class: "cursor", hidden: true });
  const told = h("div", { class: "sr", id: "heat-told", "aria-live": "polite" });
  const box = h("div", { class: "heatmap" }, h("div", { class: "corner" }), tops, names, h("div", { class: "canvas" }, canvas, cursor), told);
  const [runRow, topicColumn] = [state.columns.startsWith("run:") && Number(state.columns.slice(4)), state.rows.startsWith("topic:") && Number(state.rows.slice(6))];
  if (named)
    put(
      names,
      order.map((system) => {
        const line = h(
          "div",
          {},
          h(
            "button",
            {
              ...{ type: "button", tabindex: "-1", class: "id", title: `order topics by the scores of ${contents.systems[system]}` },
              "aria-pressed": String(runRow === system),
              "data-key": `run:${system}`,
              onclick: () => resort({ columns: runRow === system ? "given" : `run:${system}` }, `run:${system}`),
            },
            contents.systems[system],
          ),
          h("span", { class: "quiet" }, text(summary[system])),
        );
        line.style.height = `${row}px`;
        return line;
      }),
    );
  let width = 0;
  canvas.redraw = () => {
    if (!canvas.isConnected) return;
    const whole = printing ? PAPER : box.clientWidth;
    names.style.maxWidth = `${Math.min(290, Math.round(whole * 0.42))}px`;
    const room = whole - (named ? names.offsetWidth : 0) - 2;
    width = Math.max(1, Math.min(46, room / topics.length));
    if (room / topics.length < 1) width = room / topics.length;
    canvas.style.width = `${width * topics.length}px`;
    canvas.style.height = `${row * order.length}px`;
    const ratio = printing ? 2 : devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(width * topics.length * ratio));
    canvas.height = Math.max(1, Math.round(row * order.length * ratio));
    paintCells(canvas, data, share, palette(bad), { width: width * ratio, row: row * ratio, ratio, topics, order, values });
    const labelled = width >= HEAT.label;
    fill(
      tops,
      labelled
        ? topics.map((topic) => {
            const button = h(
              "button",
              {
                ...{ type: "button", tabindex: "-1", title: `order runs by topic ${contents.topics[topic]}` },
                "aria-pressed": String(topicColumn === topic),
                "data-key": `topic:${topic}`,
                onclick: () => resort({ rows: topicColumn === topic ? "mean" : `topic:${topic}` }, `topic:${topic}`),
              },
              h("span", { class: "upright" }, contents.topics[topic]),
            );
            button.style.width = `${width}px`;
            return button;
          })
        : h("span", { class: "small quiet" }, `${count(topics.length)} topics`),
    );
  };
  queueMicrotask(canvas.redraw);
  let at = { row: 0, column: 0 };
  const cellAt = (event) => {
    const next = { row: Math.floor(event.offsetY / row), column: Math.floor(event.offsetX / width) };
    return order[next.row] === undefined || topics[next.column] === undefined ? null : next;
  };
  const show = (next, aloud) => {
    at = next;
    const [system, topic] = [order[at.row], topics[at.column]];
    cursor.hidden = false;
    Object.assign(cursor.style, {
      ...{ left: `${at.column * width}px`, top: `${at.row * row}px` },
      ...{ width: `${Math.max(3, width)}px`, height: `${Math.max(3, row)}px` },
    });
    const lines = [
      `${contents.systems[system]}, topic ${contents.topics[topic]}`,
      queryOf(topic),
      `${brief(state.measure)}: ${text(values[system][topic])}`,
      `mean of all runs on this topic: ${number(difficulty[topic])}`,
      "Enter or click: the ranking, explained",
    ].filter(Boolean);
    hint(cursor, lines);
    if (aloud) fill(told, lines.slice(0, -1).join("; "));
  };
  const hide = () => {
    cursor.hidden = true;
    unhint();
  };
  const open = () => openRanking(order[at.row], topics[at.column], state.measure, { systems: order, topics }, canvas);
  canvas.addEventListener("pointermove", (event) => {
    const next = cellAt(event);
    if (next) show(next, false);
    else hide();
  });
  canvas.addEventListener("pointerleave", hide);
  canvas.addEventListener("blur", hide);
  canvas.addEventListener("focus", () => {
    if (canvas.matches(":focus-visible")) show(at, true);
  });
  canvas.addEventListener("click", (event) => {
    const next = cellAt(event);
    if (!next) return;
    at = next;
    canvas.focus();
    open();
  });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -Infinity], End: [0, Infinity], PageUp: [-Infinity, 0], PageDown: [Infinity, 0] }[event.key];
    if (event.key === "Enter" || event.key === " ") open();
    else if (!by) return;
    else {
      const within = (value, most) => Math.max(0, Math.min(value, most));
      show({ row: within(at.row + by[0], order.length - 1), column: within(at.column + by[1], topics.length - 1) }, true);
    }
    event.preventDefault();
  });
  const worst = sign(state.measure) < 0 && state.colour !== "score" ? size : -size;
  const [left, right] = signed ? [worst, -worst] : [low, high];
  const three = (value) => plain(Number(value.toPrecision(3)));
  const scale = h("span", {}, three(left), h("i", { class: `scale ${signed ? "signed" : bad ? "bad" : ""}` }), three(right));
  const gaps = data.some((line) => line.includes(null));
  return [
    h("div", { class: "key" }, scale, gaps && h("span", {}, h("i", { class: "gap" }), "no score"), !named && h("span", {}, `${count(order.length)} runs, the best on top`)),
    box,
  ];
}

function paintCells(canvas, data, share, tone, { width, row, ratio, topics, order, values }) {
  const pen = canvas.getContext("2d");
  const [rows, columns] = [order.length, topics.length];
  const image = new ImageData(columns, rows);
  const inks = [];
  for (let r = 0; r < rows; r += 1)
    for (let c = 0; c < columns; c += 1) {
      const value = data[r][c];
      const rgb = tone(value === null ? null : Math.max(-1, Math.min(1, share(value))));
      image.data.set(rgb, 4 * (r * columns + c));
      image.data[4 * (r * columns + c) + 3] = 255;
      if (width >= HEAT.written * ratio && row >= HEAT.name * ratio) inks.push(inkOn(rgb));
    }
  const small = h("canvas", { width: columns, height: rows });
  small.getContext("2d").putImageData(image, 0, 0);
  pen.imageSmoothingEnabled = width < 1;
  pen.imageSmoothingQuality = "high";
  pen.drawImage(small, 0, 0, canvas.width, canvas.height);
  pen.fillStyle = colour("raised");
  if (width >= 6 * ratio) for (let c = 1; c < columns; c += 1) pen.fillRect(Math.round(c * width) - ratio / 2, 0, ratio, canvas.height);
  if (row >= 8 * ratio) for (let r = 1; r < rows; r += 1) pen.fillRect(0, Math.round(r * row) - ratio / 2, canvas.width, ratio);
  if (!inks.length) return;
  pen.font = `${11 * ratio}px ${FONT}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (let r = 0; r < rows; r += 1)
    for (let c = 0; c < columns; c += 1) {
      const value = state.colour === "score" ? values[order[r]][topics[c]] : data[r][c];
      if (value === null) continue;
      pen.fillStyle = inks[r * columns + c];
      pen.fillText(number(value, 2), (c + 0.5) * width, (r + 0.5) * row + ratio / 2);
    }
}
