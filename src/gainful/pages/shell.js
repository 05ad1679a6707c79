// What every page of gainful is made of: elements, numbers, tables, hints, light and dark.
// Text from the data only ever becomes a text node or an attribute that is no address.
const contents = JSON.parse(document.getElementById("contents").textContent);

function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  put(element, ...children);
  return element;
}

function put(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

function fill(element, ...children) {
  element.replaceChildren();
  return put(element, ...children);
}

// Numbers as trec_eval prints them; a dash for what is missing or undefined.
function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}
const count = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en-US"));
const plural = (value, name) => `${count(value)} ${name}${value === 1 ? "" : "s"}`;
const percent = (value) => (value === null || value === undefined ? "–" : `${(100 * value).toFixed(1)}%`);
const plain = (value) =>
  value === null || value === undefined ? "–" : String(Number(value.toPrecision(6))).replace("-", "−");
function pvalue(value) {
  if (value === null || value === undefined) return "–";
  return value < 0.0001 ? "< 0.0001" : value.toFixed(4);
}
const shown = {
  text: (value) => (value === null ? "–" : typeof value === "boolean" ? (value ? "yes" : "") : String(value)),
  score: number,
  count,
  share: percent,
  p: pvalue,
  plain,
  level: plain,
  number: plain,
  signed: (value) => (value > 0 ? "+" : "") + number(value),
  variance: (value) => number(value, 6),
};
// Names of measures with many numbers, such as a list of discounts, are too long to read.
const brief = (name) => name.replace(/\[([^\],]+), ([^\],]+), (?:[^\],]+, ){2,}([^\],]+)\]/g, "[$1, $2, …, $3]");
// Names that are written from right to left, or that turn the direction, must not reorder the sentence around them.
const isolated = (text) =>
  text.replace(/[^\s(),;]*[\u0590-\u08ff\u200f\u202a-\u202e\ufb1d-\ufdff\ufe70-\ufefc][^\s(),;]*/g, "\u2068$&\u2069");
// A comparison in the head of a column stays on one line.
const unbroken = (name) => name.replace(/ ([<>≤≥]) /g, "\u00a0$1\u00a0");
const natural = new Intl.Collator("en", { numeric: true }).compare;

// A table whose columns sort. columns: {name, kind, cell?, key?, class?, hint?}; rows: arrays or whatever `cell` takes.
const MANY_COLUMNS = 7;
function sortable(columns, rows, { sorted = null, descending = true, label = "", rowClass = null, most = Infinity } = {}) {
  const state = { column: sorted, descending };
  const body = h("tbody");
  const heads = columns.map((column, at) => {
    const numeric = column.kind !== "text";
    const button = h(
      "button",
      { type: "button", title: column.hint || column.name, onclick: () => sort(at) },
      unbroken(brief(column.name)),
    );
    return h(
      "th",
      { scope: "col", class: `${numeric ? "" : "text "}${column.class || ""}` },
      column.fixed ? column.name : button,
      !column.fixed && h("span", { class: "on-paper", "aria-hidden": "true" }, unbroken(brief(column.name))), // no button is repeated on a second page
      column.under,
    );
  });
  const keyOf = (column, row, at) => (column.key ? column.key(row) : row[at]);
  function sort(at) {
    state.descending = state.column === at ? !state.descending : columns[at].kind !== "text";
    state.column = at;
    draw();
  }
  function draw() {
    heads.forEach((head, at) => {
      if (at === state.column) head.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const ordered = [...rows];
    if (state.column !== null) {
      const column = columns[state.column];
      ordered.sort((one, two) => {
        const [a, b] = [keyOf(column, one, state.column), keyOf(column, two, state.column)];
        if (a === null || a === undefined) return b === null || b === undefined ? 0 : 1;
        if (b === null || b === undefined) return -1;
        const order = typeof a === "string" ? natural(a, b) : a - b;
        return state.descending ? -order : order;
      });
    }
    body.replaceChildren(
      ...ordered.slice(0, most).map((row, place) =>
        h(
          "tr",
          { class: rowClass ? rowClass(row) : "" },
          columns.map((column, at) => {
            const cell = column.cell ? column.cell(row, place) : shown[column.kind](row[at]);
            const title = column.kind === "text" && typeof cell === "string" ? cell : null;
            const sentence = title && title.includes(" ") ? isolated(title).replaceAll(" → ", "\u00a0→\u00a0") : cell;
            return h("td", { class: `${column.kind === "text" ? "text " : ""}${column.class || ""}`, title }, sentence);
          }),
        ),
      ),
    );
  }
  draw();
  const table = h(
    "table",
    { class: columns.length > MANY_COLUMNS ? "list dense" : "list" },
    label && h("caption", { class: "sr" }, label),
    h("thead", {}, h("tr", {}, heads)),
    body,
  );
  return table;
}

// A box that scrolls by itself, and by the keyboard, so that the page need not.
function boxed(table, { name = "", classes = "" } = {}) {
  return h("div", { class: `box ${classes}`, tabindex: "0", role: "region", "aria-label": name || "table" }, table);
}

// Rows of a table that are printed, as the style sheet has it.
const ON_PAPER = 40;
function framed(given, label) {
  const box = boxed(sortable(given.columns, given.rows, { label }), {
    name: label,
    classes: given.rows.length > 12 ? "some" : "",
  });
  const [rows, most] = [given.rows.length, ON_PAPER];
  return [
    given.title && h("p", { class: "small quiet" }, given.title),
    box,
    rows > most && h("p", { class: "small quiet on-paper" }, `The first ${most} of ${count(rows)} rows: the page itself has all of them.`),
  ];
}

const tip = h("div", { class: "tip", role: "tooltip", hidden: true, id: "tip" });
document.body.append(tip);
function hint(element, lines) {
  fill(
    tip,
    h("b", {}, lines[0]),
    lines.slice(1).map((line) => h("span", {}, line)),
  );
  tip.hidden = false;
  const around = element.getBoundingClientRect();
  const width = tip.offsetWidth;
  tip.style.left = `${Math.max(8, Math.min(around.left + around.width / 2 - width / 2, innerWidth - width - 8))}px`;
  const below = around.bottom + 8;
  tip.style.top = `${below + tip.offsetHeight < innerHeight ? below : Math.max(8, around.top - tip.offsetHeight - 8)}px`;
}
function unhint() {
  tip.hidden = true;
}
addEventListener("scroll", unhint, { passive: true });
addEventListener("keydown", (event) => {
  if (event.key === "Escape") unhint();
});

// Light or dark: what the system says, until somebody chooses.
const system = matchMedia("(prefers-color-scheme: dark)");
const themed = [];
function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}
function themeButton() {
  const name = () => (isDark() ? "Light" : "Dark");
  const button = h(
    "button",
    {
      type: "button",
      class: "theme",
      onclick: () => {
        document.documentElement.dataset.theme = isDark() ? "light" : "dark";
        changed();
      },
    },
    name(),
  );
  const changed = () => {
    fill(button, name());
    button.setAttribute("aria-label", `Switch to ${name().toLowerCase()} colours`);
    themed.forEach((draw) => draw());
  };
  button.setAttribute("aria-label", `Switch to ${name().toLowerCase()} colours`);
  system.addEventListener("change", changed);
  return button;
}

function absent(text) {
  return h("p", { class: "absent" }, text);
}

function notes(list) {
  return list && list.length
    ? h(
        "ul",
        { class: "notes" },
        list.map((note) => h("li", {}, isolated(note))),
      )
    : null;
}

function copied(text) {
  // A line may end before an option, but not between its hyphens.
  const parts = text.split(/(?<=\s)(-[\w-]{1,30})(?=\s)/);
  const words = parts.map((part, at) => (at % 2 ? h("span", { class: "whole" }, part) : part));
  const box = h("pre", { tabindex: "0" }, h("code", {}, words));
  const button = h(
    "button",
    {
      type: "button",
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(text);
        } catch {
          getSelection().selectAllChildren(box);
          document.execCommand("copy");
        }
        fill(button, "Copied");
        setTimeout(() => fill(button, "Copy"), 1500);
      },
    },
    "Copy",
  );
  return h("div", {}, box, button);
}

// Paper is as wide as an A4 sheet without its margins: what was fitted to the window is fitted to that.
const PAPER = 680;
const SMALLER = 0.78; // letters on paper
const fittedAgain = [];
let printing = false;
function forPrint(now) {
  printing = now;
  if (now)
    for (const each of document.querySelectorAll("details")) each.open = true;
  for (const fit of fittedAgain) fit();
  for (const table of document.querySelectorAll(".box > table")) {
    table.style.zoom = "";
    if (!now) continue;
    table.style.width = "max-content";
    const width = SMALLER * table.offsetWidth;
    table.style.width = "";
    if (width > PAPER) table.style.zoom = (PAPER / width).toFixed(3);
  }
}
addEventListener("beforeprint", () => forPrint(true));
addEventListener("afterprint", () => forPrint(false));

// What is packed is most of the data, and needed only when somebody looks closer.
async function unpackedBytes(name) {
  const bytes = bytesOf(document.getElementById(`packed-${name}`).textContent);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
  return bytes;
}
const unpacked = {};
function unpack(name) {
  unpacked[name] ??= unpackedBytes(name).then((bytes) => JSON.parse(new TextDecoder().decode(bytes)));
  return unpacked[name];
}
