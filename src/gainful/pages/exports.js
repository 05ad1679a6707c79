// What can be taken along: tables as CSV and LaTeX, pictures as SVG and PNG.
function download(name, data, type) {
  const address = URL.createObjectURL(data instanceof Blob ? data : new Blob([data], { type }));
  const link = h("a", { download: name });
  link.href = address;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// Not cut within a word.
const fileName = (text) => {
  const whole = text.replace(/[^\p{L}\p{N}.@+-]+/gu, "-").replace(/-{2,}/g, "-").replace(/^[-.]+|-+$/g, "");
  const name = whole.length > 60 ? whole.slice(0, 61).replace(/-[^-]*$/, "").slice(0, 60) : whole;
  return name.toLowerCase() || "table";
};

// Spreadsheets take a cell that begins like this for a formula.
const inert = (text) => (/^[=+@\t\r-]/.test(text) ? `'${text}` : text);
function csvOf(columns, rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : typeof value === "number" ? String(value) : inert(String(value));
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns.map(({ name }) => name), ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
}

const TEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "−": "$-$", "–": "--" };
const tex = (text) =>
  text.replace(/[\\~^−–&%$#_{}]/g, (letter) => TEX[letter] || `\\${letter}`);
function latexOf(columns, rows) {
  const cells = rows.map((row) => row.map((value, at) => tex(shown[columns[at].kind](value ?? null))));
  const lines = [columns.map(({ name }) => tex(name)), ...cells].map((row) => `${row.join(" & ")} \\\\`);
  const kinds = columns.map(({ kind }) => (kind === "text" ? "l" : "r")).join("");
  return `\\begin{tabular}{${kinds}}\n\\toprule\n${lines[0]}\n\\midrule\n${lines.slice(1).join("\n")}\n\\bottomrule\n\\end{tabular}\n`;
}

function exportButtons(label, ways) {
  const buttons = Object.entries(ways).map(([name, take]) =>
    h("button", { type: "button", "aria-label": `${label} as ${name}`, onclick: take }, name),
  );
  return h("div", { class: "exports" }, buttons);
}

// `table` gives columns and rows as they are now.
function tableExports(label, table) {
  const take = (ending, write, type) => () => {
    const { columns, rows } = table();
    download(`${fileName(label)}.${ending}`, write(columns, rows), type);
  };
  return exportButtons(label, { CSV: take("csv", csvOf, "text/csv"), LaTeX: take("tex", latexOf, "application/x-tex") });
}

function chartExports(box, label) {
  const take = (work) => async () => box.view && work(box.view);
  return exportButtons(label(), {
    SVG: take(async (view) => download(`${fileName(label())}.svg`, await view.toSVG(), "image/svg+xml")),
    PNG: take(async (view) => {
      const canvas = await view.toCanvas(2);
      canvas.toBlob((blob) => download(`${fileName(label())}.png`, blob));
    }),
  });
}
