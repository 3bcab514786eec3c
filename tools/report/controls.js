// Controls of the chart: columns and scales, initialized with suggestions from the data.

const kMostDistinct = 200;  // maximum number of values of a grouping column
const kReadableGroups = 8;  // maximum number of suggested groups

/// Number of distinct values of a column.
function distinct(column) {
  if (column.codes) return new Set(column.codes.filter((code) => column.dictionary[code] !== null)).size;
  return new Set(column.numbers).size;
}

/// True if the values span such a range that a linear axis would hide most of them.
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
      control.addEventListener("change", () => onChange(control));
  }

  option(column) {
    return make("option", { value: column.key }, column.title);
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
      select.append(make("option", { value: "" }, "none"), ...block("texts", texts.filter(isGrouping)),
        ...block("axes", axes.filter(isGrouping)), ...block("numbers", numbers.filter(isGrouping)));
  }

  choose() {
    const count = (column) => this.counts.get(column);
    const axes = this.data.columns.filter((column) => column.axis && count(column) > 1);
    const isSize = (column) => column.kind === "bytes";
    const byUse = [...axes].sort((a, b) => isSize(b) - isSize(a) || b.isNumeric - a.isNumeric || count(b) - count(a));
    const label = this.data.column("label");
    const [user, chip] = ["tokens_per_s_per_user", "output_tokens_per_s_per_chip"].map((key) => this.data.column(key));
    const isServed = user && chip;  // latency against throughput
    const x = isServed ? user : byUse[0] ?? label ?? this.data.columns[0];
    const speedup = this.data.column("speedup");
    const y = isServed ? chip
      : (speedup && count(speedup) > 1 ? speedup : this.data.column("time_s")) ?? this.data.columns.find((column) => column.isNumeric);
    const [group, group2] = this.suggestGroups(y, [label, ...byUse.slice(1)].filter((column) =>
      column && column !== x && column.codes && count(column) > 1 && count(column) <= kMostGroups), label);
    this.first = { x: x.key, y: y.key, group: group?.key ?? "", group2: group2?.key ?? "", marksChoice: "auto" };
    this.set({});
  }

  /// Suggests the label and the axis with the largest effect on y, unless that makes too many groups.
  suggestGroups(y, columns, label) {
    const rows = Array.from({ length: this.data.rows }, (_, row) => row).filter((row) => !this.data.isBaseline(row));
    const effects = new Map(columns.map((column) => [column, effect(column, y, rows)]));
    const axes = columns.filter((column) => column !== label).sort((a, b) => effects.get(b) - effects.get(a));
    const first = columns.includes(label) ? label : axes[0];
    const groups = (members) => new Set(rows.map((row) => JSON.stringify(members.map((column) => column.cell(row))))).size;
    // An axis determined by the label, such as the format, would add nothing.
    const second = first && axes.find((column) => column !== first && groups([first, column]) > groups([first]) && groups([first, column]) <= kReadableGroups);
    return [first, second];
  }

  /// Sets the given controls, and all others to their initial values. Unknown columns are ignored.
  set(values) {
    const put = (name, value) => {
      const select = this[name];
      if ([...select.options].some((option) => option.value === value)) select.value = value;
    };
    for (const [name, value] of Object.entries(this.first)) {
      put(name, value);
      put(name, values[name] ?? value);
    }
    this.suggestScales();
    for (const name of ["xScale", "yScale"]) put(name, values[name] ?? this[name].value);
  }

  /// Differences from the initial values, in the format of set().
  get changes() {
    const { x, y } = this.state;
    const usual = { ...this.first, xScale: this.suggestedScale(x, 30), yScale: this.suggestedScale(y, 300) };
    return Object.fromEntries(Object.entries(usual).filter(([name, value]) => this[name].value !== value)
      .map(([name]) => [name, this[name].value]));
  }

  suggestedScale(column, factor) {
    return spreads(column, factor) ? "log" : "linear";
  }

  suggestScales() {
    const { x, y } = this.state;
    this.xScale.value = this.suggestedScale(x, 30);
    this.yScale.value = this.suggestedScale(y, 300);
    this.xScale.disabled = !x.isNumeric;
  }

  get marks() {
    return this.marksChoice.value;
  }

  get state() {
    const of = (select) => this.data.column(select.value);
    return {
      x: of(this.x), y: of(this.y), xLog: this.xScale.value === "log", yLog: this.yScale.value === "log",
      groupColumns: [...new Set([of(this.group), of(this.group2)])].filter(Boolean),
    };
  }
}
