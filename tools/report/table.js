// The table: sortable, with only the visible rows in the document.

const kRowHeight = 28;  // as in page.css
const kRowsBeyond = 10;  // further rows above and below the visible ones
const kPrintedRows = 500;
const kLeastWidth = 7;  // widths of columns, in characters
const kMostWidth = 40;

/// Creates an element with attributes and children; text children are never parsed as markup.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);  // the page's policy refuses the attribute
    else if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

class Table {
  /// Callbacks: `onFilter(column, text)`, `onSort(column)`, `onSelect(row)` with null for no row.
  constructor(data, { onFilter, onSort, onSelect }) {
    Object.assign(this, { data, onFilter, onSort, onSelect });
    this.cut = document.getElementById("table-cut");
    this.frame = document.getElementById("table-frame");
    this.table = document.getElementById("table");
    this.body = this.table.tBodies[0];
    this.order = Array.from({ length: data.rows }, (_, row) => row);
    this.visible = [];  // until show()
    this.sorted = null;  // {column, direction}
    this.selected = null;
    this.inputs = new Map();
    this.drawHead();
    this.frame.addEventListener("scroll", () => { this.drawRows(); this.showCutColumns(); });
    this.table.addEventListener("keydown", (event) => this.onKey(event));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr")?.dataset.row;
      if (row !== undefined) this.select(Number(row));
    });
    addEventListener("beforeprint", () => this.drawRows(kPrintedRows));
    addEventListener("afterprint", () => this.drawRows());
    new ResizeObserver(() => { if (this.shownRows) this.drawRows(); this.showCutColumns(); }).observe(this.frame);
  }

  get columns() {
    return this.data.columns.filter((column) => column.shown);
  }

  drawHead() {
    const columns = this.columns;
    const widths = columns.map((column) => this.widthOf(column));
    const group = this.table.querySelector("colgroup");
    group.replaceChildren(...widths.map((width) => make("col", { style: { width: `${width}em` } })));
    this.table.style.width = `${widths.reduce((sum, width) => sum + width, 0)}em`;
    this.heads = new Map(columns.map((column) => [column, this.head(column)]));
    this.table.tHead.replaceChildren(
      make("tr", {}, ...this.heads.values()),
      make("tr", {}, ...columns.map((column) => make("th", { class: this.classOf(column) }, this.input(column)))));
    this.table.setAttribute("aria-colcount", columns.length);
    this.markSorting();
    if (this.shownRows) this.drawRows();
    this.showCutColumns();
  }

  /// Lists the columns that are cut off on the right.
  showCutColumns() {
    const edge = this.frame.getBoundingClientRect().left + this.frame.clientWidth;
    const cut = [...this.heads].filter(([, head]) => head.getBoundingClientRect().right > edge + 1).map(([column]) => column.title);
    this.cut.hidden = cut.length === 0;
    this.cut.textContent = `${plural(cut.length, "more column")} to the right (scroll sideways): ${cut.join(", ")}`;
  }

  /// Width in em: fits its texts and the longest word of its heading, within limits.
  widthOf(column) {
    const word = Math.max(...column.title.split(/[ /]/).map((part) => part.length)) + 3;
    const characters = Math.max(column.width(this.data.rows) + 1, word, kLeastWidth);
    return Math.min(characters, kMostWidth) * 0.62 + 1.2;
  }

  classOf(column) {
    return column.isNumeric ? "number" : "";
  }

  head(column) {
    const unit = column.unitNote ? make("span", { class: "unit" }, ` (${column.unitNote})`) : "";
    return make("th", { scope: "col", class: this.classOf(column), title: column.key },
      make("button", { type: "button", onclick: () => this.sort(column) },
        ...column.title.split(/(?<=\/)/).flatMap((part) => [part, make("wbr")]), unit, make("span", { class: "arrow", "aria-hidden": "true" })));
  }

  /// Filter input of a column; kept, with its text, while the column is hidden.
  input(column) {
    if (this.inputs.has(column)) return this.inputs.get(column);
    const input = make("input", {
      type: "text", spellcheck: "false", autocomplete: "off",
      "aria-label": `Filter ${column.heading}`, placeholder: column.isNumeric ? "> < ..": "text",
      oninput: () => this.onFilter(column, input.value),
    });
    this.inputs.set(column, input);
    return input;
  }

  /// Updates the filter inputs, and marks those with a problem.
  showFilter({ texts, problems }) {
    for (const [column, input] of this.inputs) {
      const text = texts.get(column) ?? "";
      if (input.value.trim() !== text) input.value = text;
      for (const [name, value] of [["aria-invalid", "true"], ["aria-describedby", "problems"]]) {
        if (problems.has(column)) input.setAttribute(name, value);
        else input.removeAttribute(name);
      }
    }
  }

  /// Sorts by a column, or reverses the order if already sorted by it.
  sort(column) {
    this.sortBy(column, this.sorted?.column === column ? -this.sorted.direction : 1);
    this.show(this.shownRows);
    this.onSort(column);
  }

  /// Sorts by a column: 1 ascending, -1 descending; null: in the order of the data. The sort is stable.
  sortBy(column, direction) {
    this.sorted = column ? { column, direction } : null;
    if (column) this.order.sort(column.comparator(direction));
    else this.order.sort((a, b) => a - b);
    this.markSorting();
  }

  markSorting() {
    for (const [column, head] of this.heads) {
      const direction = this.sorted?.column === column ? this.sorted.direction : 0;
      head.setAttribute("aria-sort", { 0: "none", 1: "ascending", "-1": "descending" }[direction]);
      head.querySelector(".arrow").textContent = { 0: "", 1: " ▲", "-1": " ▼" }[direction];
    }
  }

  /// Shows these rows, in the order of the table.
  show(rows) {
    this.shownRows = rows;
    const isShown = new Uint8Array(this.data.rows);
    for (const row of rows) isShown[row] = 1;
    this.visible = this.order.filter((row) => isShown[row]);
    this.table.setAttribute("aria-rowcount", this.visible.length + 1);
    this.drawRows();
  }

  drawRows(least = 0) {
    const height = this.frame.clientHeight || 500;
    const first = least ? 0 : Math.max(0, Math.floor(this.frame.scrollTop / kRowHeight) - kRowsBeyond);
    const last = Math.min(this.visible.length,
      Math.max(least, Math.ceil((this.frame.scrollTop + height) / kRowHeight) + kRowsBeyond));
    const start = Math.min(first, last);
    const rows = [];
    for (let index = start; index < last; ++index) rows.push(this.row(index));
    if (this.visible.length === 0)
      rows.push(make("tr", {}, make("td", { class: "none", colspan: this.columns.length }, "No row passes the filters.")));
    this.body.replaceChildren(this.gap(start), ...rows, this.gap(this.visible.length - last));
    const shown = this.selected !== null && document.getElementById(`row-${this.selected}`);
    if (shown) this.table.setAttribute("aria-activedescendant", shown.id);
    else this.table.removeAttribute("aria-activedescendant");
  }

  /// Placeholder for rows that are not visible.
  gap(rows) {
    return make("tr", { class: "gap", "aria-hidden": "true" },
      make("td", { colspan: this.columns.length, style: { height: `${rows * kRowHeight}px` } }));
  }

  row(index) {
    const row = this.visible[index];
    const absence = this.data.absence(row);
    const cells = this.columns.map((column) => this.cell(column, row));
    // The reason of a point without runs takes the cells without values.
    const isAxis = this.columns.map((column) => column.axis);
    const first = isAxis.lastIndexOf(true) + 1;
    if (absence && first < cells.length)
      cells.splice(first, cells.length - first, make("td", { colspan: cells.length - first, title: absence }, absence));
    return make("tr", {
      id: `row-${row}`, "data-row": row, "aria-rowindex": index + 2,
      "aria-selected": String(row === this.selected), class: absence ? "absent" : null,
    }, ...cells);
  }

  cell(column, row) {
    const text = column.cell(row);
    return make("td", { class: column.isNumeric ? "number" : null, title: column.isNumeric ? null : text }, text);
  }

  /// Selects a row; null: none.
  select(row, { reveal = false } = {}) {
    this.selected = row;
    if (reveal && row !== null) this.reveal(row);
    this.drawRows();
    this.onSelect(row);
  }

  reveal(row) {
    const index = this.visible.indexOf(row);
    if (index < 0) return;
    const head = this.table.tHead.offsetHeight;
    const top = index * kRowHeight;
    const room = this.frame.clientHeight - head - kRowHeight;
    if (top < this.frame.scrollTop) this.frame.scrollTop = top;
    else if (top > this.frame.scrollTop + room) this.frame.scrollTop = top - room;
  }

  onKey(event) {
    if (event.target !== this.table || this.visible.length === 0) return;
    const page = Math.max(1, Math.floor(this.frame.clientHeight / kRowHeight) - 3);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const here = this.visible.indexOf(this.selected);
    const last = this.visible.length - 1;
    const next = here < 0 && Math.abs(step) < Infinity ? 0 : Math.min(last, Math.max(0, here + step));
    this.select(this.visible[next], { reveal: true });
  }
}
