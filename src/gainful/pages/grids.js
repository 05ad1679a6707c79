// Grids: one stop of the Tab key each, arrows inside, hints for mouse and keyboard alike.
function gridKeys(table, describe, choose) {
  const rows = [...table.tBodies[0].rows].map((row) =>
    [...row.cells].filter((cell) => cell.tagName === "TD" && !cell.classList.contains("mean")),
  );
  const start = rows.flat().find((cell) => !cell.classList.contains("same"));
  for (const cell of rows.flat()) {
    cell.tabIndex = cell === start ? 0 : -1;
    cell.setAttribute("role", "gridcell");
  }
  const where = (cell) => {
    const row = rows.findIndex((cells) => cells.includes(cell));
    return [row, rows[row].indexOf(cell)];
  };
  const go = (from, row, column) => {
    const next = (rows[Math.max(0, Math.min(row, rows.length - 1))] || [])[
      Math.max(0, Math.min(column, rows[0].length - 1))
    ];
    if (!next || next === from) return;
    from.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  };
  const told = (cell) => {
    const lines = describe(cell);
    cell.setAttribute("aria-label", lines.join("; "));
    hint(cell, lines);
  };
  table.addEventListener("keydown", (event) => {
    const cell = event.target.closest("td");
    if (!cell) return;
    const [row, column] = where(cell);
    const moves = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      Home: [row, 0],
      End: [row, Infinity],
      PageUp: [0, column],
      PageDown: [Infinity, column],
    };
    if (event.key in moves) go(cell, ...moves[event.key]);
    else if (event.key === "Enter" || event.key === " ") choose(cell);
    else return;
    event.preventDefault();
  });
  table.addEventListener("focusin", (event) => {
    const cell = event.target.closest("td.gridcell, td[role]");
    if (cell) told(cell);
  });
  table.addEventListener("focusout", unhint);
  table.addEventListener("pointerover", (event) => {
    const cell = event.target.closest("td[role]");
    if (cell) told(cell);
    else unhint();
  });
  table.addEventListener("pointerleave", unhint);
  table.addEventListener("click", (event) => {
    const cell = event.target.closest("td[role]");
    if (cell) {
      rows.flat().forEach((each) => {
        each.tabIndex = -1;
      });
      cell.tabIndex = 0;
      cell.focus();
      choose(cell);
    }
  });
}
