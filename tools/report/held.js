// Axes that are not shown in the chart are fixed at one value each, so that it has one point at each x.

/// Effect of a column on y: the difference of the largest and smallest mean of y over the column's values;
/// of log(y) if y is positive, so that axes are compared by factors.
function effect(column, y, rows) {
  const sums = new Map();
  const isPositive = rows.every((row) => !(y.numbers[row] <= 0));
  for (const row of rows) {
    const value = isPositive ? Math.log(y.numbers[row]) : y.numbers[row];
    if (Number.isNaN(value) || column.isMissing(row)) continue;
    const at = sums.get(column.cell(row)) ?? { sum: 0, count: 0 };
    at.sum += value;
    ++at.count;
    sums.set(column.cell(row), at);
  }
  const means = [...sums.values()].map(({ sum, count }) => sum / count);
  return means.length ? Math.max(...means) - Math.min(...means) : 0;
}

/// Most common value of a column; the middle one of several.
function commonest(column, rows) {
  const firsts = new Map();
  const counts = new Map();
  for (const row of rows) {
    if (column.isMissing(row)) continue;
    const cell = column.cell(row);
    if (!firsts.has(cell)) firsts.set(cell, row);
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  const most = Math.max(...counts.values());
  const compare = column.comparator(1);
  const candidates = [...firsts].filter(([cell]) => counts.get(cell) === most).sort((a, b) => compare(a[1], b[1]));
  return candidates[candidates.length >> 1][0];
}

const kAll = "";  // choice: the axis is not fixed

class HeldAxes {
  /// Calls `onChange(column)` when the user chooses another value for an axis.
  constructor(data, onChange) {
    this.data = data;
    this.onChange = onChange;
    this.container = document.getElementById("chart-held");
    this.wanted = new Map();  // user's choice by column: a cell's text, or kAll
    this.shown = "";
  }

  /// Fixes axes, and returns the rows with their values. `groupOf` and `xOf` return group and x of a row.
  hold(rows, { x, y, groupColumns }, { groupOf, xOf }) {
    const axes = this.data.columns.filter((column) => column.axis && column !== x && !groupColumns.includes(column));
    const inRows = (column, cell) => rows.some((row) => !column.isMissing(row) && column.cell(row) === cell);
    this.held = new Map(axes.filter((column) => inRows(column, this.wanted.get(column)))
      .map((column) => [column, this.wanted.get(column)]));
    const open = axes.filter((column) => !this.held.has(column) && this.wanted.get(column) !== kAll);
    let kept = this.pass(rows);
    for (;;) {
      const differing = this.differing(kept, open, y, groupOf, xOf);
      if (differing.length === 0) break;
      const least = differing.reduce((a, b) => (effect(b, y, kept) < effect(a, y, kept) ? b : a));
      this.held.set(least, commonest(least, kept));
      open.splice(open.indexOf(least), 1);
      kept = this.pass(rows);
    }
    this.drawChoices(rows, axes);
    return kept;
  }

  /// Rows that have the fixed values, or lack the axis.
  pass(rows) {
    const held = [...this.held];
    return rows.filter((row) => held.every(([column, cell]) => column.isMissing(row) || column.cell(row) === cell));
  }

  /// Those of `axes` in which rows with equal x and group but different y differ.
  differing(rows, axes, y, groupOf, xOf) {
    const firsts = new Map();
    const found = new Set();
    for (const row of rows) {
      if (Number.isNaN(y.numbers[row])) continue;
      const key = `${xOf(row)} ${groupOf(row)}`;
      if (!firsts.has(key)) firsts.set(key, row);
      const first = firsts.get(key);
      if (y.numbers[row] === y.numbers[first]) continue;
      for (const column of axes) if (column.cell(row) !== column.cell(first)) found.add(column);
    }
    return [...found];
  }

  /// Draws a choice for each axis that is fixed, or was released by the user.
  drawChoices(rows, axes) {
    const choices = axes.filter((column) => this.held.has(column) || this.wanted.has(column));
    const options = new Map(choices.map((column) => [column, this.values(column, rows)]));
    const shown = JSON.stringify(choices.map((column) => [column.key, this.held.get(column) ?? kAll, options.get(column)]));
    if (shown === this.shown) return;  // keeps the focus
    const focused = document.activeElement?.dataset?.held;
    this.shown = shown;
    this.container.replaceChildren(...choices.map((column) => make("label", {}, `${column.title} at `, this.choice(column, options.get(column)))));
    [...this.container.querySelectorAll("select")].find((select) => select.dataset.held === focused)?.focus();
    this.container.hidden = choices.length === 0;
  }

  values(column, rows) {
    const firsts = new Map();
    for (const row of rows) if (!column.isMissing(row) && !firsts.has(column.cell(row))) firsts.set(column.cell(row), row);
    const compare = column.comparator(1);
    return [...firsts].sort((a, b) => compare(a[1], b[1])).map(([cell]) => cell);
  }

  choice(column, values) {
    const select = make("select", {
      "data-held": column.key, onchange: () => { this.wanted.set(column, select.value); this.onChange(column); },
    }, make("option", { value: kAll }, "all values"), ...values.map((value) => make("option", { value }, value)));
    select.value = this.held.get(column) ?? kAll;
    return select;
  }

  /// "microshards at 4"
  get texts() {
    return [...this.held ?? []].map(([column, cell]) => `${column.title} at ${cell}`);
  }
}
