// Charts: Vega-Lite as the analyses drew them, fitted to the width, with the measures chosen. They are drawn for white;
// in the dark the style sheet gives each colour another, so that nothing is drawn again, and paper gets what is light.
const OKABE_ITO = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#882255"];
const [INKED, PALER, RULED] = ["#1b1d21", "#5d626b", "#e6e5df"];
const IN_THE_DARK = {
  ...{ "#0072b2": "#56b4e9", "#d55e00": "#f08a3c", "#009e73": "#3fc39c", "#cc79a7": "#e3a1c6" },
  ...{ "#56b4e9": "#9ad3f5", "#000000": "#e8e8e4", "#882255": "#f0e442" },
  ...{ white: "#14171a", black: "#e8e8e4" }, // in the cells of a map, which are turned over: see atNight
  ...{ "#555555": "#a2a7af", "#777777": "#a2a7af", "#888888": "#a2a7af", "#bbbbbb": "#5b616a" },
  ...{ [INKED]: "#e8e8e4", [PALER]: "#a2a7af", [RULED]: "#33373d" },
};
const recoloured = ([light, dark]) =>
  ["fill", "stroke"].map((what) => `.chart [${what}="${light}"] { ${what}: light-dark(${light}, ${dark}); }`);
document.head.append(h("style", {}, Object.entries(IN_THE_DARK).flatMap(recoloured).join("\n")));
// Shades of a map: what is pale on white is dim in the dark, so that the same numbers stand out.
function atNight(box) {
  for (const [marks, attribute] of [[".role-mark path[fill^=rgb]", "fill"], ["stop[stop-color^=rgb]", "stop-color"]])
    for (const mark of box.querySelectorAll(marks)) {
      const day = mark.getAttribute(attribute);
      const [red, green, blue] = day.match(/[\d.]+/g).map((value) => value / 255);
      const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)];
      const turned = 0.15 + 0.7 * (1 - (most + least) / 2);
      const strength = most > least ? Math.min(turned, 1 - turned) / Math.min((most + least) / 2, 1 - (most + least) / 2) : 0;
      const shade = (value) => Math.round(255 * (turned + Math.min(strength, 1) * (value - (most + least) / 2)));
      mark.style[attribute] = `light-dark(${day}, rgb(${shade(red)}, ${shade(green)}, ${shade(blue)}))`;
    }
}
const FONT = getComputedStyle(document.body).fontFamily;
const hiddenMeasures = new Set();

function look(narrow, longest, below) {
  return {
    background: "transparent",
    font: FONT,
    range: { category: OKABE_ITO },
    axis: {
      labelColor: PALER,
      titleColor: INKED,
      gridColor: RULED,
      domainColor: PALER,
      tickColor: PALER,
      labelFontSize: 12,
      titleFontSize: 12,
      titleFontWeight: 500,
      labelLimit: narrow ? 90 : 240,
      titleLimit: narrow ? 280 : 400,
    },
    legend: {
      labelColor: INKED,
      titleColor: PALER,
      labelFontSize: 12,
      titleFontWeight: 500,
      labelLimit: narrow ? 240 : 200,
      symbolOpacity: 1,
      ...(below ? { orient: "bottom", columns: narrow ? (longest > 14 ? 1 : 2) : 6 } : {}),
    },
    title: { color: INKED },
    header: { labelColor: PALER, titleColor: INKED },
    text: { color: INKED },
    view: { stroke: null },
  };
}

function merged(one, two) {
  const result = { ...one };
  for (const [key, value] of Object.entries(two)) {
    const both = value && typeof value === "object" && !Array.isArray(value) && typeof result[key] === "object";
    result[key] = both ? merged(result[key], value) : value;
  }
  return result;
}

// Every view of a specification that draws something.
function views(spec) {
  const inner = spec.layer || spec.vconcat || spec.hconcat || spec.concat || (spec.spec ? [spec.spec] : null);
  return inner ? inner.flatMap(views) : [spec];
}

const measureNames = () => (contents.measures || []).map((measure) => measure.name);
const measureOf = (value) => measureNames().find((name) => value === name || String(value).startsWith(`${name}: `));
const isHidden = (value) => {
  const name = measureOf(value);
  return name !== undefined && hiddenMeasures.has(name);
};

// Only the measures that are chosen, in the colours that they have among all.
function withMeasures(spec) {
  const labels = [];
  for (const [name, rows] of Object.entries(spec.datasets || {})) {
    for (const row of rows)
      if (typeof row.measure === "string" && !labels.includes(row.measure)) labels.push(row.measure);
    spec.datasets[name] = rows.filter((row) => !isHidden(row.measure) && !isHidden(row.other));
  }
  for (const view of views(spec)) {
    const colour = view.encoding && view.encoding.color;
    if (colour && colour.field === "measure" && colour.type === "nominal") {
      colour.scale = { ...colour.scale, domain: labels };
      if (colour.legend !== null)
        colour.legend = { ...colour.legend, values: labels.filter((label) => !isHidden(label)) };
    }
  }
  return spec;
}

// Panels side by side zoom together, as far as they share a scale.
function withZoom(spec) {
  const quantitative = (channel) => channel && channel.type === "quantitative" && channel.field;
  const own = (spec.resolve && spec.resolve.scale) || {};
  const encodings = ["x", "y"].filter((axis) => !spec.spec || own[axis] !== "independent");
  const view = ((spec.spec || spec).layer || []).find((one) => {
    const mark = one.mark && (one.mark.type || one.mark);
    return (
      ["line", "point", "circle"].includes(mark) &&
      one.encoding &&
      quantitative(one.encoding.x) &&
      quantitative(one.encoding.y)
    );
  });
  if (!view || !encodings.length) return false;
  view.params = [
    ...(view.params || []),
    {
      name: "zoom",
      bind: "scales",
      select: {
        type: "interval",
        encodings,
        zoom: "wheel![event.shiftKey]",
        translate: "[pointerdown[event.shiftKey], window:pointerup] > window:pointermove!",
      },
    },
  ];
  return true;
}

function fitted(spec, width, tall) {
  const narrow = width < 560;
  spec.config = merged(spec.config || {}, look(narrow, longestLabel(spec), narrow || Boolean(spec.spec)));
  if (spec.spec) narrowed(spec, width, tall);
  if (narrow) withLegend(spec);
  if (narrow) withShortLines(spec);
  delete spec.title;
  const grow = (height) => (typeof height === "number" ? Math.round(height * tall) : height);
  if (spec.vconcat) {
    const room = width - (narrow ? 80 : 190);
    for (const view of spec.vconcat) {
      view.width = room;
      if (view.height) view.height = grow(view.height);
    }
  } else if (!spec.hconcat && !spec.concat && !spec.spec) {
    const square = typeof spec.width === "number" && spec.width === spec.height;
    spec.width = square && tall === 1 ? Math.min(width, Math.round(spec.width * 1.2)) : width;
    if (spec.height) spec.height = grow(spec.height);
    spec.autosize = { type: "fit", contains: "padding" };
  }
  return spec;
}

// Names at the ends of lines take the room of the lines on a phone: a legend instead.
function withLegend(spec) {
  for (const inner of spec.vconcat || [spec]) {
    const layers = inner.layer || [];
    const kept = layers.filter((view) => !(view.mark && view.mark.style === "ends"));
    if (kept.length === layers.length) continue;
    inner.layer = kept;
    for (const { encoding } of kept)
      if (encoding && encoding.color && encoding.color.legend === null) delete encoding.color.legend;
  }
}

// A title that is longer than its axis stands in lines.
function withShortLines(spec) {
  for (const { encoding } of views(spec))
    for (const axis of [encoding && encoding.x, encoding && encoding.y])
      if (axis && typeof axis.title === "string") axis.title = axis.title.match(/\S.{0,39}(?!\S)|\S+/g);
}

// Panels side by side, made narrower where they would not fit, but never so narrow that nothing can be read.
function narrowed(spec, width, tall) {
  const facet = spec.facet || {};
  const field = (facet.column || facet).field;
  const values = new Set(Object.values(spec.datasets || {}).flatMap((rows) => rows.map((row) => row[field])));
  if (!facet.column && spec.columns) spec.columns = Math.max(1, Math.min(spec.columns, Math.floor(width / 190)));
  const across = Math.min(facet.column ? values.size : spec.columns || values.size, values.size) || 1;
  // Panels with a scale of their own have axes of their own; else there is one for all, and perhaps a title of the row.
  const own = spec.resolve && spec.resolve.scale && spec.resolve.scale.y === "independent";
  const room = Math.floor((width - (facet.row ? 90 : 75)) / across) - (own ? 55 : 22);
  for (const view of [spec.spec, ...(spec.spec.layer || [])]) {
    if (typeof view.width === "number") view.width = Math.max(120, Math.min(2 * tall * view.width, room));
    if (typeof view.height === "number") view.height = Math.round(view.height * tall);
  }
}

function longestLabel(spec) {
  const rows = Object.values(spec.datasets || {}).flat();
  return rows.reduce((most, row) => Math.max(most, typeof row.measure === "string" ? row.measure.length : 0), 0);
}

function titleOf(spec) {
  const title = spec.title;
  if (!title) return "";
  const text = typeof title === "string" ? title : title.text;
  return Array.isArray(text) ? text.join(" ") : text;
}

// How to read a chart.
function subtitleOf(spec) {
  return spec.title && spec.title.subtitle ? [spec.title.subtitle].flat().join(" ") : "";
}

// The axes, for those who do not see the picture.
function described(spec) {
  const titles = views(spec)
    .flatMap((view) => [view.encoding && view.encoding.x, view.encoding && view.encoding.y])
    .map((channel) => channel && channel.title)
    .filter((title) => typeof title === "string");
  return [titleOf(spec), [...new Set(titles)].join("; "), subtitleOf(spec)].filter(Boolean).join(". ");
}

async function draw(box, given, { tall = 1 } = {}) {
  const width = Math.floor(box.clientWidth);
  if (!width) return;
  const spec = fitted(withMeasures(structuredClone(given)), width, tall);
  const zooms = withZoom(spec);
  // Panels side by side keep their size, and scroll in their box.
  box.classList.toggle("panels", Boolean(spec.hconcat || spec.concat || spec.spec));
  if (box.view) box.view.finalize();
  try {
    const result = await window.vegaEmbed(box, spec, {
      renderer: "svg",
      actions: false,
      ast: true,
      tooltip: { theme: "custom" },
    });
    box.view = result.view;
    atNight(box);
    const picture = box.querySelector("svg");
    for (const one of [box, picture]) if (one) one.setAttribute("aria-label", described(given));
    // A line that marks a level says nothing by itself: the description of the chart does.
    for (const mark of box.querySelectorAll("g[role=graphics-symbol]:not([aria-label])")) {
      mark.removeAttribute("role");
      mark.removeAttribute("aria-roledescription");
      mark.setAttribute("aria-hidden", "true");
    }
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  } catch (error) {
    fill(box, absent(`This chart could not be drawn: ${error.message}`));
    console.error(error);
  }
  return zooms;
}

const drawn = [];
let queue = Promise.resolve();
function later(work) {
  queue = queue.then(work).then(() => new Promise((ready) => setTimeout(ready)));
  return queue;
}
function redraw() {
  for (const one of drawn) one();
}
let lastWidth = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === lastWidth) return;
  lastWidth = innerWidth;
  clearTimeout(redraw.soon);
  redraw.soon = setTimeout(redraw, 150);
});

// One figure, or several to choose from.
function figures(list) {
  let at = 0;
  const caption = h("span");
  const reading = h("p", { class: "hint" });
  const box = h("div", { class: "chart" });
  const zoom = h(
    "p",
    { class: "hint" },
    "Point at a line or dot for its numbers. Shift and the wheel zoom, Shift and dragging move, a double click resets.",
  );
  const enlarge = h("button", { type: "button", onclick: () => enlarged(list[at].spec) }, "Enlarge");
  const show = () =>
    later(async () => {
      fill(caption, titleOf(list[at].spec));
      fill(reading, subtitleOf(list[at].spec));
      zoom.hidden = !(await draw(box, list[at].spec));
    });
  drawn.push(show);
  show();
  let choice = null;
  if (list.length > 1) {
    const select = h(
      "select",
      {
        onchange: () => {
          at = select.selectedIndex;
          show();
        },
      },
      list.map((each) => h("option", {}, each.label)),
    );
    choice = h("div", { class: "controls" }, h("label", {}, "Shown", select));
  }
  const ways = h("span", { class: "ways" }, chartExports(box, () => titleOf(list[at].spec)), enlarge);
  return h("div", {}, choice, h("figure", {}, h("figcaption", {}, caption, ways), reading, box, zoom));
}

function enlarged(spec) {
  const box = h("div", { class: "chart" });
  const close = h("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const dialog = h(
    "dialog",
    { class: "large", "aria-label": titleOf(spec) },
    h("figcaption", {}, h("span", {}, titleOf(spec)), close),
    box,
  );
  const back = document.activeElement;
  dialog.addEventListener("close", () => {
    dialog.remove();
    back && back.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  draw(box, spec, { tall: innerHeight > 800 ? 1.7 : 1.3 });
}

// Which measures the charts show.
function measureChips() {
  const names = measureNames();
  if (names.length < 2) return null;
  return h(
    "div",
    { class: "controls" },
    h("span", { class: "small quiet" }, "Measures in the charts"),
    h(
      "div",
      { class: "chips", role: "group", "aria-label": "Measures in the charts" },
      names.map((name) => {
        const button = h(
          "button",
          {
            type: "button",
            "aria-pressed": "true",
            title: name,
            onclick: () => {
              if (hiddenMeasures.has(name)) hiddenMeasures.delete(name);
              else if (hiddenMeasures.size < names.length - 1) hiddenMeasures.add(name);
              button.setAttribute("aria-pressed", String(!hiddenMeasures.has(name)));
              redraw();
            },
          },
          brief(name),
        );
        return button;
      }),
    ),
  );
}
