// Two runs side by side: every topic as a bar, and a topic opened with both rankings.
function pairNow() {
  const order = bestFirst(means(state.measure), sign(state.measure));
  const a = state.a ?? order.find((system) => system !== state.b);
  const b = state.b ?? (state.baseline !== null && state.baseline !== a ? state.baseline : order.find((system) => system !== a));
  return [a, b];
}

function besideSection() {
  if (contents.systems.length < 2) return null;
  const choose = (key, label) =>
    picker({
      id: `run-${key}`,
      label,
      names: contents.systems,
      keys: ["a", "b", "measure", "baseline"],
      value: () => pairNow()[key === "a" ? 0 : 1],
      pick: (at) => {
        const [a, b] = pairNow();
        const other = key === "a" ? b : a;
        change(at === other ? { a: b, b: a } : key === "a" ? { a: at, b } : { a, b: at });
      },
    });
  const swap = h(
    "button",
    {
      type: "button",
      onclick: () => {
        const [a, b] = pairNow();
        change({ a: b, b: a });
      },
    },
    "Swap",
  );
  return [
    h("div", { class: "controls" }, choose("a", "Run"), choose("b", "against"), swap),
    live(["measure", "a", "b", "baseline", "pairs"], drawBeside),
  ];
}

function differences(a, b) {
  const { values } = contents.scores[state.measure];
  const found = [];
  for (let topic = 0; topic < contents.topics.length; topic += 1) {
    const [one, two] = [values[a][topic], values[b][topic]];
    if (one !== null && two !== null) found.push([topic, one - two]);
  }
  return found.sort((one, two) => sign(state.measure) * (two[1] - one[1]) || one[0] - two[0]);
}

function drawBeside() {
  const [a, b] = pairNow();
  const found = differences(a, b);
  if (!found.length) return absent("These two have no topic in common.");
  const lines = compared(state.measure) ? pairLines(state.measure, a, b).slice(1) : [];
  const topics = found.map(([topic]) => topic);
  const open = (topic, from) => openBeside(topic, topics, from);
  const moved = found.filter(([, value]) => value !== 0);
  const goods = moved.filter(([, value]) => sign(state.measure) * value > 0).slice(0, 5);
  const bads = moved.filter(([, value]) => sign(state.measure) * value < 0).slice(-5).reverse();
  const list = (title, rows) =>
    rows.length > 0 &&
    h(
      "div",
      {},
      h("h3", {}, title),
      h(
        "ul",
        { class: "movers" },
        rows.map(([topic, value]) =>
          h(
            "li",
            {},
            h(
              "button",
              { type: "button", class: "slim id", onclick: (event) => open(topic, event.currentTarget) },
              contents.topics[topic],
            ),
            h("span", {}, shown.signed(value)),
            queryOf(topic) && h("span", { class: "quiet asks" }, queryOf(topic)),
          ),
        ),
      ),
    );
  const names = [contents.systems[a], contents.systems[b]];
  const [better, worse] = words(state.measure);
  return [
    h("div", { class: "told" }, lines.map((line) => h("div", {}, line))),
    bars(found, open, names),
    h(
      "div",
      { class: "columns" },
      list(`Where ${names[0]} is ${better}`, goods),
      list(`Where it is ${worse}`, bads),
    ),
    tableExports(`${names[0]} against ${names[1]}`, () => {
      const { values } = contents.scores[state.measure];
      const columns = [["topic", "text"], [names[0], "score"], [names[1], "score"], ["difference", "signed"]];
      return {
        columns: columns.map(([name, kind]) => ({ name, kind })),
        rows: found.map(([topic, value]) => [contents.topics[topic], values[a][topic], values[b][topic], value]),
      };
    }),
  ];
}

// A picture that is drawn by hand, sharp on every screen, and again when its width or the colours change.
function painted(height, label, paint) {
  const canvas = h("canvas", { role: "img", "aria-label": label });
  const draw = () => {
    const width = Math.floor(printing ? PAPER : canvas.parentElement ? canvas.parentElement.clientWidth : 0);
    if (!width || !canvas.isConnected) return;
    const ratio = printing ? 3 : devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = `11px ${FONT}`;
    paint(pen, width, height, colour);
  };
  canvas.redraw = draw;
  queueMicrotask(draw);
  return canvas;
}
const colour = (name) => {
  Object.assign(probe.style, { color: `var(--${name})`, colorScheme: printing ? "light" : "" });
  return getComputedStyle(probe).color;
};
const probe = h("span", { hidden: true });
document.body.append(probe);
function repaint() {
  for (const canvas of document.querySelectorAll("canvas")) if (canvas.redraw) canvas.redraw();
}
fittedAgain.push(repaint);
themed.push(repaint);
addEventListener("resize", repaint);

// A bar of a lonely topic need not fill the page.
const WIDEST = 80;
function bars(found, open, names) {
  const values = found.map(([, value]) => value);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const marks = ticks(low, high === low ? low + 1 : high, 4);
  const left = 44;
  const stepOf = (width) => Math.min(WIDEST, (width - left) / found.length);
  const at = (width) => (x) => {
    const place = Math.floor((x - left) / stepOf(width));
    return place >= 0 && place < found.length ? place : null;
  };
  const canvas = painted(200, `Differences of ${found.length} topics, sorted`, (pen, width, height, tone) => {
    const y = (value) => 8 + ((marks.at(-1) - value) / (marks.at(-1) - marks[0])) * (height - 16);
    pen.fillStyle = tone("quiet");
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const mark of marks) {
      pen.fillStyle = tone("quiet");
      pen.fillText(plain(mark), left - 6, y(mark));
      pen.fillStyle = tone(mark === 0 ? "strong" : "line");
      pen.fillRect(left, y(mark), width - left, 1);
    }
    const step = stepOf(width);
    const gap = step > 4 ? 1 : 0;
    const [good, bad] = [tone("blue"), tone("red")];
    values.forEach((value, place) => {
      pen.fillStyle = sign(state.measure) * value > 0 ? good : bad;
      const top = Math.min(y(0), y(value));
      pen.fillRect(left + place * step, top, Math.max(0.6, step - gap), Math.abs(y(value) - y(0)));
    });
  });
  const cursor = h("div", { class: "cursor", hidden: true });
  const box = h("div", { class: "canvas bars" }, canvas, cursor);
  const over = (event) => {
    const place = at(canvas.clientWidth)(event.offsetX);
    cursor.hidden = place === null;
    if (place === null) return unhint();
    const step = stepOf(canvas.clientWidth);
    Object.assign(cursor.style, { left: `${left + place * step}px`, width: `${Math.max(2, step)}px`, top: "0", height: "200px" });
    const [topic, value] = found[place];
    hint(cursor, [`topic ${contents.topics[topic]}`, queryOf(topic), `${brief(state.measure)}: ${shown.signed(value)}`, "click: both rankings"].filter(Boolean));
  };
  canvas.addEventListener("pointermove", over);
  canvas.addEventListener("pointerleave", () => {
    cursor.hidden = true;
    unhint();
  });
  canvas.addEventListener("click", (event) => {
    const place = at(canvas.clientWidth)(event.offsetX);
    if (place !== null) open(found[place][0], document.getElementById("run-a"));
  });
  return h(
    "div",
    {},
    h("p", { class: "small quiet" }, `One bar per topic: ${brief(state.measure)} of `, h("b", { class: "id" }, names[0]), " minus that of ", h("b", { class: "id" }, names[1]), ". Choose a bar for both rankings."),
    box,
  );
}

// One topic, both rankings: the same documents joined by lines.
const LINE = 34;
async function openBeside(topic, topics, from) {
  openedFrom = from;
  await unpackWhy();
  unhint();
  sheet.classList.add("wide");
  drawBoth(topic, topics);
  if (!sheet.open) sheet.showModal();
  sheet.scrollTop = 0;
}

function drawBoth(topic, topics) {
  const why = whyOf(topic);
  const pairOfRuns = pairNow();
  change({ opened: { topic, run: null } });
  const move = (label, next) =>
    h("button", { type: "button", disabled: next === null, onclick: () => drawBoth(next, topics) }, label);
  const { values } = contents.scores[state.measure];
  const explained = Object.hasOwn(why.measures || {}, state.measure) ? state.measure : null;
  const scoreLine = h(
    "p",
    {},
    `${brief(state.measure)}: ${pairOfRuns.map((system) => number(values[system][topic])).join(" against ")}`,
    explained ? "" : "; this measure is not explained rank by rank",
  );
  fill(
    sheet,
    h(
      "div",
      { class: "sheet-in" },
      h(
        "div",
        { class: "sheet-head" },
        h("div", {}, h("h2", { id: "sheet-title" }, "Topic ", h("span", { class: "id" }, contents.topics[topic])), queryLine(topic), scoreLine),
        h("button", { type: "button", onclick: () => sheet.close() }, "Close"),
      ),
      h(
        "nav",
        { class: "controls", "aria-label": "Other topics" },
        move("Previous topic", step(topics, topic, -1)),
        move("Next topic", step(topics, topic, 1)),
      ),
      why.absent ? absent(why.absent) : bothRankings(why, pairOfRuns, explained),
    ),
  );
}

function bothRankings(why, systems, explained) {
  const places = systems.map((system) => why.systems.indexOf(system));
  if (places.includes(-1))
    return absent("Of so many runs only the best are explained here; 'gainful explain' tells of the others, too.");
  const lists = places.map((at) => why.rankings[at]);
  const of = explained && why.measures[explained];
  const ranks = lists.map((list) => new Map(list.map((doc, at) => [doc, at])));
  const texts = Boolean(why.texts);
  const high = texts ? LINE + 22 : LINE;
  const both = lists[0].filter((doc) => doc >= 0 && ranks[1].has(doc)).length;
  const side = (which) => {
    const other = ranks[1 - which];
    const adds = of && why.adds[explained][places[which]];
    const lines = lists[which].map((doc, at) => {
      const name = doc < 0 ? "–" : why.documents[doc];
      const label = doc < 0 ? null : why.labels[doc];
      const there = other.get(doc);
      const moved = there === undefined ? "new" : there === at ? "=" : shift(at - there);
      const row = h(
        "tr",
        { class: there === undefined ? "alone" : "" },
        h("td", {}, at + 1),
        h("td", { class: "text id", title: name }, h("div", { class: "cut end" }, h("bdi", {}, name)), texts && says(textOf(why, name) ?? " ")),
        h("td", {}, mark(label)),
        adds && h("td", { class: "aside" }, number(adds[at] / of.scale)),
        which === 1 && h("td", { class: "small quiet aside" }, moved),
      );
      row.style.height = `${high}px`;
      return row;
    });
    const heads = ["rank", "document", "label", adds && "adds", which === 1 && "moved"].filter(Boolean);
    const run = contents.systems[systems[which]];
    const table = h(
      "table",
      { class: "list both" },
      h("caption", { class: "sr" }, run),
      h("thead", {}, h("tr", {}, heads.map((name) => h("th", { scope: "col", class: { document: "text", adds: "aside", moved: "aside" }[name] || "" }, name)))),
      h("tbody", {}, lines),
    );
    return h("div", {}, h("div", { class: "id cut of-run", title: run }, run), table);
  };
  const tall = high * Math.max(...lists.map((list) => list.length), 1);
  const svg = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const picture = svg("svg", { viewBox: `0 0 60 ${tall}`, preserveAspectRatio: "none", height: tall, "aria-hidden": "true", class: "moves" });
  lists[0].forEach((doc, at) => {
    const there = doc >= 0 ? ranks[1].get(doc) : undefined;
    if (there === undefined) return;
    const [one, two] = [(at + 0.5) * high, (there + 0.5) * high];
    const label = why.labels[doc];
    const kind = label === null ? "unjudged" : label > 0 ? "good" : label < 0 ? "bad" : "zero";
    picture.append(svg("path", { d: `M0,${one} C30,${one} 30,${two} 60,${two}`, class: kind }));
  });
  return h(
    "div",
    {},
    h(
      "p",
      { class: "small quiet" },
      `${both} of the first ${why.ranks} documents are in both; the rest of each list is marked. Lines are coloured by label. `,
      why.texts_said,
    ),
    h("div", { class: "two", tabindex: "0", role: "region", "aria-label": "Both rankings" }, side(0), h("div", { class: "between" }, picture), side(1)),
  );
}
const shift = (by) => (by > 0 ? `↓ ${by}` : `↑ ${-by}`);
