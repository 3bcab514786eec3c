// Connects the parts of the page.

function plural(count, one) {
  return `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;
}

/// Texts of the settings that all rows share. Hides columns of settings with a single value.
function extractShared(data) {
  const settings = ["algorithm", "format", "quantize", "chips"];
  const isSame = (column) => data.rowSources.every((_, row) => !column.isMissing(row) && column.cell(row) === column.cell(0));
  const same = data.columns.filter((column) => data.rows > 1 && settings.includes(column.key) && isSame(column));
  for (const column of same) column.shown = false;
  return [...data.sharedSettings(), ...same.map((column) => `${column.title} ${column.describe(0)}`)];
}

const kMostReasons = 3;

/// Note with the number of points that do not fit, with an example.
function doesNotFitNote(data) {
  const column = data.column("does_not_fit");
  if (!column) return [];
  const rows = data.rowSources.map((_, row) => row).filter((row) => !column.isMissing(row));
  return [`${plural(rows.length, "point")} ${rows.length === 1 ? "does" : "do"} not fit, like: ${column.cell(rows[0])}`];
}

/// Note with the number of failed points and their most frequent errors.
function failureNote(data) {
  const failures = data.column("error");
  const counts = new Map();
  for (let row = 0; failures && row < data.rows; ++row)
    if (!failures.isMissing(row)) counts.set(failures.cell(row), (counts.get(failures.cell(row)) ?? 0) + 1);
  if (counts.size === 0) return [];
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  const reasons = sorted.slice(0, kMostReasons).map(([reason, count]) => (counts.size > 1 ? `${count} × ${reason}` : reason));
  const more = sorted.length > kMostReasons ? [`${sorted.length - kMostReasons} other reasons`] : [];
  const failed = sorted.reduce((sum, [, count]) => sum + count, 0);
  return [`${plural(failed, "point")} failed: ${[...reasons, ...more].join("; ")}`];
}

function drawHeader(data) {
  document.getElementById("title").textContent = data.title;
  const versions = [...new Set(data.sources.map(({ version }) => version))];
  document.getElementById("summary").textContent = [
    plural(data.rows, "row"), plural(data.sources.length, "configuration"),
    `computed by equarx-sim ${versions.join(", ")}`].join(" · ");
  const same = extractShared(data);
  document.getElementById("same").textContent = same.length ? `Common to all rows: ${same.join(" · ")}` : "";
  const advice = document.getElementById("advice");
  advice.textContent = data.advice;
  advice.hidden = !data.advice;
  const notes = [...data.notes, ...doesNotFitNote(data), ...failureNote(data)];
  document.getElementById("notes").append(...notes.map((note) => make("p", { class: "note" }, note)));
  document.getElementById("about").textContent = `Created by equarx-sim ${data.version} report. ` +
    "This file is self-contained: it can be mailed, archived and opened offline.";
}

/// Visibility of the table's columns.
class ColumnChoices {
  constructor(data, table, onChange) {
    this.data = data;
    this.table = table;
    this.usual = new Set(data.columns.filter((column) => column.shown));
    this.boxes = new Map(data.columns.map((column) => [column, make("input", {
      type: "checkbox", onchange: () => { column.shown = this.boxes.get(column).checked; table.drawHead(); onChange(column); },
    })]));
    document.querySelector("#columns .choices").append(
      ...[...this.boxes].map(([column, box]) => make("label", {}, box, ` ${column.title}`)));
    this.mark();
  }

  mark() {
    for (const [column, box] of this.boxes) box.checked = column.shown;
  }

  save(choices) {
    for (const column of this.data.columns)
      if (column.shown !== this.usual.has(column)) choices.append(column.shown ? "show" : "hide", column.key);
  }

  restore(choices) {
    const [shown, hidden] = ["show", "hide"].map((name) => choices.getAll(name));
    for (const column of this.data.columns)
      column.shown = shown.includes(column.key) || (this.usual.has(column) && !hidden.includes(column.key));
    this.mark();
    this.table.drawHead();
  }
}

/// Parts of the page's address: filter, order, selected row.
function filterChoices(data, filter, search) {
  return {
    save(choices) {
      if (filter.words.trim()) choices.set("filter", filter.words);
      for (const [column, text] of filter.texts) choices.set(`filter.${column.key}`, text);
    },
    restore(choices) {
      filter.clear();
      filter.words = search.value = choices.get("filter") ?? "";
      for (const column of data.columns) filter.setColumn(column, choices.get(`filter.${column.key}`) ?? "");
    },
  };
}

function sortChoices(data, table) {
  return {
    save(choices) {
      if (table.sorted) choices.set("sort", `${table.sorted.direction < 0 ? "-" : ""}${table.sorted.column.key}`);
    },
    restore(choices) {
      const text = choices.get("sort") ?? "";
      const isDown = text.startsWith("-");
      table.sortBy(data.column(isDown ? text.slice(1) : text) ?? null, isDown ? -1 : 1);
    },
  };
}

function rowChoice(data, table, first) {
  return {
    save(choices) {
      if (table.selected !== first) choices.set("row", table.selected === null ? "none" : data.idOf(table.selected));
    },
    restore(choices) {
      const id = choices.get("row");
      table.selected = id === null ? first : data.rowOf(id);
    },
  };
}

class Page {
  constructor(data) {
    this.data = data;
    drawHeader(data);
    this.filter = new Filter(data);
    this.details = new Details(data);
    this.pictures = new Pictures(data);
    this.table = new Table(data, {
      onFilter: (column, text) => { this.filter.setColumn(column, text); this.apply(); this.view.changed(column.key); },
      onSort: () => this.view.changed("sort"),
      onSelect: (row) => { this.showRow(row); this.view.changed("row"); },
    });
    this.chart = new Chart(data, {
      onSelect: (row) => this.table.select(row, { reveal: true }),
      onChoice: (control) => this.view.changed(control),
    });
    this.search = document.getElementById("search");
    this.reset = document.getElementById("reset");
    this.table.selected = data.rows > 0 ? 0 : null;
    const columns = new ColumnChoices(data, this.table, (column) => this.view.changed(`column ${column.key}`));
    this.view = new View([columns, filterChoices(data, this.filter, this.search), sortChoices(data, this.table),
      this.chart, rowChoice(data, this.table, this.table.selected)], () => this.apply({ reveal: true }));
    this.listen();
    this.apply();
    this.view.restore();
  }

  listen() {
    this.search.addEventListener("input", () => { this.filter.words = this.search.value; this.apply(); this.view.changed("filter"); });
    this.reset.addEventListener("click", () => {
      this.filter.clear();
      this.search.value = "";
      this.apply();
      this.view.changed("clear");
      this.search.focus();
    });
    const { title } = this.data;
    document.getElementById("save-csv").addEventListener("click", () =>
      save(fileName(title, ".csv"), "text/csv;charset=utf-8", csvOf(this.data, this.table.visible)));
    copyButton(document.getElementById("copy-link"), document.getElementById("link-copied"), () => location.href);
  }

  /// Updates table, chart and selected row after a change of the filter.
  apply({ reveal = false } = {}) {
    const { data, filter, table } = this;
    const rows = filter.rows();
    table.showFilter(filter);
    table.show(rows);
    this.chart.show(rows);
    document.getElementById("count").textContent = rows.length === data.rows
      ? plural(data.rows, "row") : `${rows.length.toLocaleString("en")} of ${plural(data.rows, "row")}`;
    document.getElementById("problems").textContent = [...filter.problems.values()].join(" ");
    this.reset.disabled = !filter.isActive;
    if (table.selected !== null && !rows.includes(table.selected)) table.selected = null;
    if (reveal && table.selected !== null) table.reveal(table.selected);
    table.drawRows();
    this.showRow(table.selected);
  }

  showRow(row) {
    this.details.show(row, this.table.visible.length);
    this.pictures.showRow(row);
  }
}

new Page(new Data(JSON.parse(document.getElementById("data").textContent)));
