// One topic of one run, opened: every rank, what it adds, and where the score was lost.
const opened = { system: 0, topic: 0, asked: null, measure: null, order: { systems: [], topics: [] } };
const sheet = h("dialog", { class: "sheet", "aria-labelledby": "sheet-title" });
document.body.append(sheet);
let openedFrom = null;
sheet.addEventListener("close", () => {
  change({ opened: null });
  if (openedFrom) openedFrom.focus();
});
sheet.addEventListener("click", (event) => {
  if (event.target === sheet) sheet.close();
});

// What is packed of rankings is one line of JSON per topic, below a line on what they share: a topic is read when it is
// opened, as all of them would take a while.
let whyLines = null;
async function unpackWhy() {
  if (!whyLines) {
    whyLines = new TextDecoder().decode(await unpackedBytes("why")).split("\n");
    whyLines[0] = JSON.parse(whyLines[0]);
  }
  return whyLines[0];
}
function whyOf(topic) {
  if (whyLines[0].absent) return whyLines[0];
  const own = JSON.parse(whyLines[topic + 1]);
  return { ...whyLines[0], ...own, documents: own.documents.map((name) => own.prefix + name) };
}

// `order` is how runs and topics are listed where the cell was chosen: what comes before and after.
async function openRanking(system, topic, measure, order, from) {
  Object.assign(opened, { system, topic, asked: measure, order });
  openedFrom = from;
  const why = await unpackWhy();
  const explained = Object.keys(why.measures || {});
  if (!opened.measure || explained.includes(measure))
    opened.measure = explained.includes(measure) ? measure : explained[0] || null;
  unhint();
  sheet.classList.remove("wide");
  drawRanking();
  if (!sheet.open) sheet.showModal();
  sheet.scrollTop = 0;
}

// What a topic asks, where the page was given it.
const queryOf = (topic) => (contents.queries && contents.queries[topic]) || null;
const queryLine = (topic) => queryOf(topic) && h("p", { class: "query" }, queryOf(topic));
const textOf = (why, doc) => (why.texts && Object.hasOwn(why.texts, doc) ? why.texts[doc] : null);

function step(list, at, by) {
  const place = list.indexOf(at) + by;
  return place >= 0 && place < list.length ? list[place] : null;
}

function drawRanking() {
  const { system, topic, order } = opened;
  const why = whyOf(topic);
  change({ opened: { topic, run: system } });
  const move = (label, next) =>
    h(
      "button",
      {
        type: "button",
        disabled: next.value === null,
        onclick: () => {
          opened[next.what] = next.value;
          drawRanking();
          const again = [...sheet.querySelectorAll("nav button")].find(
            (button) => button.textContent === label && !button.disabled,
          );
          (again || sheet.querySelector("nav button:not(:disabled)") || sheet).focus();
        },
      },
      label,
    );
  const explained = Object.keys(why.measures || {});
  const select =
    explained.length > 1
      ? h(
          "label",
          {},
          "Measure",
          h(
            "select",
            {
              onchange: (event) => {
                opened.measure = explained[event.target.selectedIndex];
                drawRanking();
                sheet.querySelector("select").focus();
              },
            },
            explained.map((name) => h("option", { selected: name === opened.measure }, brief(name))),
          ),
        )
      : null;
  const title = h("h2", { id: "sheet-title" }, "Topic ", h("span", { class: "id" }, contents.topics[topic]));
  const close = h("button", { type: "button", onclick: () => sheet.close() }, "Close");
  fill(
    sheet,
    h(
      "div",
      { class: "sheet-in" },
      h(
        "div",
        { class: "sheet-head" },
        h(
          "div",
          {},
          title,
          queryLine(topic),
          h("p", {}, "as answered by ", h("b", { class: "id" }, contents.systems[system])),
        ),
        close,
      ),
      h(
        "nav",
        { class: "controls", "aria-label": "Other topics and runs" },
        select,
        move("Previous topic", { what: "topic", value: step(order.topics, topic, -1) }),
        move("Next topic", { what: "topic", value: step(order.topics, topic, 1) }),
        move("Run above", { what: "system", value: step(order.systems, system, -1) }),
        move("Run below", { what: "system", value: step(order.systems, system, 1) }),
      ),
      other(why),
      why.absent ? absent(why.absent) : rankingParts(why),
    ),
  );
}

// The score of the cell that was chosen, where nothing can be told of it rank by rank.
function other(why) {
  const { system, topic, asked } = opened;
  if (Object.keys(why.measures || {}).includes(asked)) return null;
  const score = contents.scores[asked].values[system][topic];
  return h("p", {}, `${brief(asked)}: ${summaryText(asked)(score)}. This measure is not explained rank by rank.`);
}

function rankingParts(why) {
  const { system, topic, measure } = opened;
  const place = why.systems.indexOf(system);
  if (place < 0)
    return absent("Of so many runs only the best are explained here; 'gainful explain' tells of this one, too.");
  const row = place * contents.topics.length + topic;
  const ranking = why.rankings[place];
  const of = measure ? why.measures[measure] : null;
  const reached = why.retrieved[row];
  const told = of && balance(why, of, row, topic, system, measure);
  if (!ranking.length)
    return [told, absent("The run returned nothing for this topic."), of && losses(why, of, place)];
  const unjudged = ranking.filter((doc) => why.labels[doc] === null).length;
  const about = `The first ${ranking.length} of ${plural(reached, "document")}${unjudged ? `, ${unjudged} of them unjudged` : ""}.`;
  return [
    told,
    h(
      "div",
      {},
      h("h3", {}, "What was shown"),
      h("p", { class: "small quiet" }, about, why.texts_said && ` ${why.texts_said}`),
      shownRanks(why, of, place),
    ),
    of && losses(why, of, place),
  ];
}

const says = (text) => text && h("div", { class: "says", title: text }, text);

function mark(label) {
  if (label === null) return h("span", { class: "mark none", title: "not judged" }, "?");
  const kind = label > 0 ? "good" : label < 0 ? "bad" : "zero";
  const badge = h("span", { class: `mark ${kind}` }, plain(label));
  const highest = contents.labels.reduce((so, [known]) => Math.max(so, known), 1);
  if (label > 0) badge.style.setProperty("--g", label / highest);
  return badge;
}

// In the order of `why.reasons`.
const REASONS = ["not-shown", "misplaced", "forbidden"];
function balance(why, of, row, topic, system, measure) {
  const score = contents.scores[measure].values[system][topic];
  const [empty, best] = [of.empty[topic], of.best[topic]];
  if (best === null)
    return h("p", {}, `${brief(measure)} is undefined for this topic: the pool leaves nothing to gain or lose.`);
  if (score === null)
    return h("p", {}, `${brief(measure)} is not scored here: the run has nothing for this topic (missing: skip).`);
  const losses = [of.not_shown, of.misplaced, of.forbidden].map((sums, at) => [REASONS[at], sums[row], why.reasons[at]]);
  const sizes = [["base", empty], ["won", score - empty], ...losses];
  const total = sizes.reduce((sum, [, size]) => sum + Math.max(0, size), 0);
  const simple = sizes.every(([, size]) => size > -1e-6) && total > 0;
  const bar = simple
    ? h(
        "div",
        { class: "parts", role: "img", "aria-label": `won ${number(score - empty)}, lost ${number(best - score)}` },
        sizes.map(([name, size]) => {
          const part = h("i", { class: name });
          part.style.width = `${(100 * Math.max(0, size)) / total}%`;
          return part;
        }),
      )
    : null;
  const key = [
    empty ? ["base", `${number(empty)} for an empty page`] : null,
    ["won", `${number(score - empty)} won by what is shown`],
    ...losses
      .filter(([, size]) => Math.abs(size) >= 5e-5)
      .map(([name, size, [lost, gained]]) => [
        name,
        (size > 0 ? `${number(size)} lost because ${lost}` : `${number(-size)} gained because ${gained}`).replace(
          "{k}",
          of.cutoff ?? why.retrieved[row],
        ),
      ]),
  ];
  return h(
    "div",
    {},
    h(
      "div",
      { class: "score" },
      h("span", { class: "big" }, number(score)),
      h("span", { class: "quiet" }, `${brief(measure)}; the best ordering has ${number(best)}`),
    ),
    h("p", {}),
    bar,
    h(
      "div",
      { class: "key" },
      key.filter(Boolean).map(([name, text]) => h("span", {}, h("i", { class: name }), text)),
    ),
  );
}

function bar(value, largest) {
  const cell = h("span", { class: value < 0 ? "adds bad" : "adds" }, number(value));
  if (value && largest) {
    const length = h("i");
    length.style.width = `${(3.6 * Math.abs(value)) / largest}rem`;
    cell.prepend(length);
  }
  return cell;
}

function shownRanks(why, of, place) {
  const { topic, measure } = opened;
  const told = of && why.adds[measure][place];
  const adds = told ? told.map((value) => value / of.scale) : null;
  const largest = adds ? Math.max(...adds.map(Math.abs), 0) : 0;
  const gain = of && of.family === "gain";
  const worths = of && of.family !== "other";
  const gains = new Map(of ? of.gains : []);
  let sum = of ? of.empty[topic] : 0;
  let found = 0;
  const columns = [
    "rank",
    "document",
    "label",
    ...(worths ? [gain ? "gain" : "relevant", gain ? "discount" : "precision"] : []),
    ...(adds ? ["adds", "score so far"] : []),
  ];
  const lines = why.rankings[place].map((doc, at) => {
    const label = doc < 0 ? null : why.labels[doc];
    const worth = gains.get(label) ?? 0;
    if (of && !gain && worth) found += 1;
    if (adds) sum += adds[at];
    const cells = [
      h("td", {}, at + 1),
      h(
        "td",
        { class: "text id", title: why.documents[doc] },
        doc < 0 ? "–" : why.documents[doc],
        doc >= 0 && says(textOf(why, why.documents[doc])),
      ),
      h("td", {}, mark(label)),
    ];
    if (worths)
      cells.push(
        h("td", {}, gain ? plain(worth) : worth ? "yes" : ""),
        h("td", {}, gain ? number(at < of.discounts.length ? of.discounts[at] : 0) : number(found / (at + 1))),
      );
    if (adds) cells.push(h("td", { class: "with-bar" }, bar(adds[at], largest)), h("td", {}, number(sum)));
    return h("tr", {}, cells);
  });
  const heads = columns.map((name) => h("th", { scope: "col", class: name === "document" ? "text" : "" }, name));
  return boxed(
    h(
      "table",
      { class: "list ranking" },
      h("caption", { class: "sr" }, "The ranking"),
      h("thead", {}, h("tr", {}, heads)),
      h("tbody", {}, lines),
    ),
    { name: "The ranking" },
  );
}

function losses(why, of, place) {
  const flat = why.lost[opened.measure][place];
  const adds = why.adds[opened.measure][place];
  const lines = [];
  for (let at = 0; at < flat.length; ) {
    const at_rank = -flat[at]; // of a document that is shown, which says the rest
    const [doc, rank, won, best] =
      at_rank > 0 ? [why.rankings[place][at_rank - 1], at_rank, adds[at_rank - 1], flat[at + 1]] : flat.slice(at, at + 4);
    at += at_rank > 0 ? 2 : 4;
    if (best === won) continue;
    lines.push(
      h(
        "tr",
        {},
        h("td", { class: "text id", title: why.documents[doc] }, why.documents[doc]),
        h("td", {}, mark(why.labels[doc])),
        h("td", {}, rank ? count(rank) : "not returned"),
        h("td", {}, number(won / of.scale)),
        h("td", {}, number(best / of.scale)),
        h("td", {}, number((best - won) / of.scale)),
      ),
    );
  }
  if (!lines.length) return null;
  const heads = ["document", "label", "rank", "won", "could have won", "lost"].map((name) =>
    h("th", { scope: "col", class: name === "document" ? "text" : "" }, name),
  );
  return h(
    "div",
    {},
    h("h3", {}, "What was lost"),
    h(
      "p",
      { class: "small quiet" },
      "The documents with the largest losses against the best ordering; a negative loss is a document that stands higher than it should.",
    ),
    boxed(
      h(
        "table",
        { class: "list losses" },
        h("caption", { class: "sr" }, "The largest losses"),
        h("thead", {}, h("tr", {}, heads)),
        h("tbody", {}, lines),
      ),
      { name: "The largest losses" },
    ),
  );
}
