// What the chart shows: its columns and scales, as chosen, and at first what the data suggest.

const kMostDistinct = 200;  // values of a column that groups

/// Distinct values of a column in the data.
function distinct(column) {
  if (column.codes) return new Set(column.codes.filter((code) => column.dictionary[code] !== null)).size;
  return new Set(column.numbers).size;
}

/// Whether values spread over so much that a linear axis would hide most of them.
function spreads(column, factor) {
  let low = Infinity;
  let high = 0;
  for (const value of column.isNumeric ? column.numbers : []) {
    if (value <= 0) return false;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return high / low > factor;
}

class ChartControls {
  constructor(data, onChange) {
    this.data = data;
    const get = (id) => document.getElementById(`chart-${id}`);
    [this.x, this.y, this.group, this.group2, this.xScale, this.yScale, this.marksChoice] =
      ["x", "y", "group", "group2", "x-scale", "y-scale", "marks"].map(get);
    this.counts = new Map(data.columns.map((column) => [column, distinct(column)]));
    this.fill();
    this.choose();
    this.x.addEventListener("change", () => this.suggestScales());
    this.y.addEventListener("change", () => this.suggestScales());
    for (const control of [this.x, this.y, this.group, this.group2, this.xScale, this.yScale, this.marksChoice])
      control.addEventListener("change", onChange);
  }

  option(column) {
    return make("option", { value: this.data.columns.indexOf(column) }, column.title);
  }

  fill() {
    const { columns } = this.data;
    const block = (label, members) => (members.length ? [make("optgroup", { label }, ...members.map((column) => this.option(column)))] : []);
    const axes = columns.filter((column) => column.axis);
    const numbers = columns.filter((column) => column.isNumeric && !column.axis);
    const texts = columns.filter((column) => !column.isNumeric && !column.axis);
    const isGrouping = (column) => column.codes && this.counts.get(column) <= kMostDistinct;
    this.x.append(...block("axes", axes), ...block("numbers", numbers), ...block("texts", texts));
    this.y.append(...block("numbers", numbers), ...block("axes", axes.filter((column) => column.isNumeric)));
    for (const select of [this.group, this.group2])
      select.append(make("option", { value: -1 }, "nothing"), ...block("texts", texts.filter(isGrouping)),
        ...block("axes", axes.filter(isGrouping)), ...block("numbers", numbers.filter(isGrouping)));
  }

  choose() {
    const count = (column) => this.counts.get(column);
    const axes = this.data.columns.filter((column) => column.axis && count(column) > 1);
    const isSize = (column) => column.kind === "bytes";
    const byUse = [...axes].sort((a, b) => isSize(b) - isSize(a) || b.isNumeric - a.isNumeric || count(b) - count(a));
    const label = this.data.column("label");
    const x = byUse[0] ?? label ?? this.data.columns[0];
    const speedup = this.data.column("speedup");
    const y = (speedup && count(speedup) > 1 ? speedup : this.data.column("time_s")) ?? this.data.columns.find((column) => column.isNumeric);
    const groups = [label, ...byUse.slice(1)].filter((column) => column && column !== x && column.codes && count(column) > 1 && count(column) <= kMostGroups);
    const second = groups.slice(1).find((column) => count(column) * count(groups[0]) <= kMostGroups);
    const set = (select, column) => { select.value = this.data.columns.indexOf(column); };
    set(this.x, x);
    set(this.y, y);
    set(this.group, groups[0]);
    set(this.group2, second);
    this.suggestScales();
  }

  suggestScales() {
    const { x, y } = this.state;
    this.xScale.value = spreads(x, 30) ? "log" : "linear";
    this.yScale.value = spreads(y, 300) ? "log" : "linear";
    this.xScale.disabled = !x.isNumeric;
  }

  get marks() {
    return this.marksChoice.value;
  }

  get state() {
    const of = (select) => this.data.columns[Number(select.value)];
    return {
      x: of(this.x), y: of(this.y), xLog: this.xScale.value === "log", yLog: this.yScale.value === "log",
      groupColumns: [...new Set([of(this.group), of(this.group2)])].filter(Boolean),
    };
  }
}
