// The chart: any number over any column, in groups. Drawn by uPlot, if included in the page.

const kHeight = 400;
const kManyPoints = 1500;
const kNearEnough = 30;  // maximum distance of the pointer to a point, in pixels
/// Columns with the ends of a column's intervals.
const kIntervals = {
  time_s: ["uncertainty/time_low_s", "uncertainty/time_high_s"],
  speedup: ["uncertainty/speedup_low", "uncertainty/speedup_high"],
};

class Chart {
  /// Calls `onSelect(row)` when a point is selected, and `onChoice(control)` when a control changes.
  constructor(data, { onSelect, onChoice }) {
    Object.assign(this, { data, onSelect });
    this.container = document.getElementById("chart");
    this.legend = document.getElementById("legend");
    this.note = document.getElementById("chart-note");
    this.rows = [];
    this.hidden = new Set();
    if (typeof uPlot === "undefined") return this.refuse();
    this.controls = new ChartControls(data, (control) => { this.hidden.clear(); this.draw(); onChoice(control); });
    this.heldAxes = new HeldAxes(data, (column) => { this.draw(); onChoice(column); });
    offerFigure(this, data.title);
    this.container.addEventListener("keydown", (event) => this.onKey(event));
    this.container.addEventListener("blur", () => this.activate(null));
    new ResizeObserver(() => this.resize()).observe(this.container);
    this.darkness = matchMedia("(prefers-color-scheme: dark)");
    this.darkness.addEventListener("change", () => this.draw());
    addEventListener("beforeprint", () => { this.isPrinting = true; this.draw(); });
    addEventListener("afterprint", () => { this.isPrinting = false; this.draw(); });
  }

  refuse() {
    for (const id of ["chart-controls", "chart-help", "chart-exports", "legend"]) document.getElementById(id).hidden = true;
    this.container.style.height = "auto";
    this.container.removeAttribute("tabindex");
    this.container.replaceChildren(make("p", { class: "message" },
      "No chart: equarx-sim was built without the chart library, because npm was unreachable. " +
      "The rest of this page works."));
  }

  show(rows) {
    this.rows = rows;
    if (this.controls) this.draw();
  }

  save(choices) {
    if (!this.controls) return;
    for (const [name, value] of Object.entries(this.controls.changes)) choices.set(`chart.${name}`, value);
    for (const [column, value] of this.heldAxes.wanted) choices.set(`held.${column.key}`, value);
  }

  restore(choices) {
    if (!this.controls) return;
    const values = Object.fromEntries([...choices].filter(([name]) => name.startsWith("chart."))
      .map(([name, value]) => [name.slice("chart.".length), value]));
    this.controls.set(values);
    this.heldAxes.wanted = new Map(this.data.columns.filter((column) => choices.has(`held.${column.key}`))
      .map((column) => [column, choices.get(`held.${column.key}`)]));
    this.hidden.clear();
  }

  size() {
    return { width: Math.max(this.container.clientWidth, 200), height: kHeight };
  }

  resize() {
    const size = this.size();
    if (this.plot && this.plot.width !== size.width) this.plot.setSize(size);
  }

  colours() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    if (this.isPrinting) return { ink: "#000", rule: "#ccc", ground: "#fff", isDark: false };
    return { ink: of("--ink"), rule: of("--rule"), ground: of("--ground"), isDark: this.darkness.matches };
  }

  draw() {
    this.state = this.controls.state;
    const { x, y, groupColumns, xLog, yLog } = this.state;
    const nameOf = (row) => this.nameOf(row, groupColumns);
    this.drawn = this.heldAxes.hold(this.rows, this.state, {
      groupOf: nameOf, xOf: (row) => (x.isNumeric ? x.numbers[row] : x.cell(row)) });
    this.x = new Axis(x, xLog, this.drawn);
    this.x.isHorizontal = true;
    this.y = new Axis(y, yLog, this.drawn);
    const ends = (kIntervals[y.key] ?? []).map((key) => this.data.column(key));
    this.ends = ends.length && ends.every(Boolean) ? ends.map((column) => new Axis(column, yLog, this.drawn)) : null;
    this.group(groupColumns, nameOf);
    // Lines are only meaningful with a single point at each x.
    this.isOneLineEach = this.groups.every(({ points }) => points.every((point, i) => i === 0 || point.x !== points[i - 1].x));
    this.hasLines = this.controls.marks === "lines" || (this.controls.marks === "auto" && this.isOneLineEach && x.isNumeric);
    this.zoom = null;
    this.active = null;
    this.plotGroups();
    this.drawLegend(groupColumns);
    this.describe(groupColumns);
  }

  /// Ends of the row's interval on the y axis; empty without interval.
  interval(row) {
    const ends = (this.ends ?? []).map((axis) => axis.value(row));
    return ends.some(Number.isNaN) ? [] : ends;
  }

  /// Name of a row's group, from the grouping columns it has. A baseline drawn as a line is one group.
  nameOf(row, columns) {
    const label = this.data.column("label");
    const named = this.isReference(row) && this.state.y.key === "speedup" ? [label] : columns;
    const name = named.map((column) => column.describe(row)).filter(Boolean).join(", ") || "none";
    return this.data.isBaseline(row) && named.includes(label) ? `${name} (baseline)` : name;
  }

  /// True if a row is drawn as a horizontal line, because its y is the same at every x: the baseline of
  /// speedups, and a baseline that does not depend on the axis at x.
  isReference(row) {
    if (!this.data.isBaseline(row)) return false;
    const { x, y } = this.state;
    return y.key === "speedup" ? x.axis || x.isNumeric : x.axis && x.isMissing(row);
  }

  /// Collects the groups, with their points sorted by x. Filtering other groups does not change the style of a group.
  group(columns, nameOf) {
    this.leftOut = 0;
    const groups = new Map();
    const groupOf = (row, kind) => {
      const name = nameOf(row);
      if (!groups.has(name)) groups.set(name, { name, points: [], ...kind });
      return groups.get(name);
    };
    for (const row of this.drawn) {
      const point = { row, x: this.x.value(row), y: this.y.value(row), interval: this.interval(row) };
      const isReference = this.isReference(row);
      if ((Number.isNaN(point.x) && !isReference) || Number.isNaN(point.y)) { ++this.leftOut; continue; }
      if (!isReference) { groupOf(row, {}).points.push(point); continue; }
      const { level } = groupOf(row, { level: point.y });
      if (level !== point.y) ++this.leftOut;
    }
    this.chooseGroups(columns, nameOf, groups);
  }

  /// Selects the groups to draw. Horizontal lines come last.
  chooseGroups(columns, nameOf, groups) {
    const all = this.allGroupNames(columns, nameOf);
    const { isDark } = this.colours();
    const isStable = all.length <= kMostGroups;
    const sorted = all.filter((name) => groups.has(name)).map((name) => groups.get(name));
    this.undrawn = Math.max(0, sorted.length - kMostGroups);
    this.groups = sorted.slice(0, kMostGroups).sort((a, b) => ("level" in a) - ("level" in b));
    this.groups.forEach((group, position) => {
      group.look = "level" in group ? null : isStable ? all.indexOf(group.name) : position;
      group.style = group.look === null ? this.referenceStyle() : styleOf(group.look, isDark);
      group.points.sort((a, b) => a.x - b.x);
      // Rows that differ only in axes without effect have equal results: draws them once.
      group.points = group.points.filter(({ x, y }, i, { [i - 1]: before }) => i === 0 || x !== before.x || y !== before.y);
    });
  }

  referenceStyle() {
    return { colour: this.colours().ink, dash: [6, 3], marker: null };
  }

  /// Group names of all rows, including filtered ones, ordered by the columns' values; horizontal lines come last.
  allGroupNames(columns, nameOf) {
    const firsts = new Map();
    const rows = Array.from({ length: this.data.rows }, (_, row) => row);
    for (const row of [...rows.filter((row) => !this.isReference(row)), ...rows.filter((row) => this.isReference(row))]) {
      const name = nameOf(row);
      if (!firsts.has(name)) firsts.set(name, row);
    }
    const comparators = columns.map((column) => column.comparator(1));
    const order = (a, b) => comparators.reduce((found, compare) => found || compare(a[1], b[1]), this.isReference(a[1]) - this.isReference(b[1]));
    return [...firsts].sort(order).map(([name]) => name);
  }

  get shownGroups() {
    return this.groups.filter((group) => !this.hidden.has(group.name));
  }

  plotGroups() {
    this.plot?.destroy();
    const levels = this.shownGroups.flatMap(({ level }) => level ?? []);
    const points = this.shownGroups.flatMap((group, index) => group.points.map((point) => ({ ...point, index })));
    points.sort((a, b) => a.x - b.x);
    const columns = this.shownGroups.map(() => new Array(points.length).fill(null));
    points.forEach(({ y, index }, position) => { columns[index][position] = y; });
    this.full = {
      x: this.range(points.map(({ x }) => x), this.x),
      y: this.range([...levels, ...points.flatMap(({ y, interval }) => [y, ...interval])], this.y),
    };
    this.plot = new uPlot(this.options(), [points.map(({ x }) => x), ...columns], this.container);
    this.tip = make("div", { id: "tip", hidden: true });
    this.ring = make("div", { id: "ring", hidden: true });
    this.plot.over.append(this.ring, this.tip);
    this.listen(this.plot.over);
  }

  range(values, axis) {
    return axis.range(values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity));
  }

  options() {
    const colours = this.colours();
    const scale = (name) => ({ time: false, distr: this[name].isLog ? 3 : 1, range: () => this.zoom?.[name] ?? this.full[name] });
    return {
      ...this.size(),
      legend: { show: false },
      scales: { x: scale("x"), y: scale("y") },
      axes: [this.axisOptions(this.x, colours), this.axisOptions(this.y, colours)],
      cursor: { points: { show: false }, drag: { x: true, y: true, setScale: false }, bind: { dblclick: () => () => this.zoomTo(null) } },
      series: [{}, ...this.shownGroups.map(({ style, name }) => ({
        label: name, stroke: style.colour, width: 2, dash: style.dash, spanGaps: true,
        points: { show: false }, ...(this.hasLines ? {} : { paths: () => null }),
      }))],
      hooks: {
        drawSeries: [(plot, index) => this.drawGroup(plot, index, colours)],
        setSelect: [(plot) => this.zoomToSelection(plot)],
      },
    };
  }

  axisOptions(axis, { ink, rule }) {
    const isSlanted = axis.isHorizontal && axis.names && axis.names.join("").length > 60;
    const longest = axis.names ? Math.max(...axis.names.map((name) => name.length), 1) : 0;
    return {
      label: axis.label, labelFont: "600 14px system-ui, sans-serif", font: "13px system-ui, sans-serif",
      labelSize: 26, stroke: ink, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule, width: 1 },
      size: axis.isHorizontal ? (isSlanted ? 24 + longest * 4 : 34) : 62,
      rotate: isSlanted ? -35 : 0,
      splits: (plot, index, low, high) => axis.ticks(low, high, axis.isHorizontal ? plot.bbox.width / devicePixelRatio : plot.bbox.height / devicePixelRatio),
      filter: (plot, splits) => splits,
      values: (plot, splits) => axis.labels(splits),
    };
  }

  drawGroup(plot, index, { ground }) {
    const group = this.shownGroups[index - 1];
    if (!group) return;
    if ("level" in group) return drawLevel(plot.ctx, group.style, plot.bbox, plot.valToPos(group.level, "y", true));
    const isCrowded = this.drawn.length > kManyPoints;
    const { left, top, width, height } = plot.bbox;
    const across = (x) => plot.valToPos(x, "x", true);
    const down = (y) => Math.min(Math.max(plot.valToPos(y, "y", true), top), top + height);
    const isSeen = (x) => x >= left - 1 && x <= left + width + 1;
    const radius = (isCrowded ? 0.6 : 1) * kMarkerRadius * devicePixelRatio;
    const bars = group.points.filter(({ interval }) => interval.length)
      .map(({ x, interval }) => [across(x), ...interval.map(down)]).filter(([x, low, high]) => isSeen(x) && low !== high);
    drawErrorBars(plot.ctx, group.style, radius, bars);
    const markers = group.points.map(({ x, y }) => [across(x), plot.valToPos(y, "y", true)])
      .filter(([x, y]) => isSeen(x) && y >= top - 1 && y <= top + height + 1);
    drawMarkers(plot.ctx, group.style, ground, radius, markers);
  }

  zoomToSelection(plot) {
    const { left, top, width, height } = plot.select;
    if (width < 8 || height < 8) return;
    const [x0, x1] = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
    const [y0, y1] = [plot.posToVal(top + height, "y"), plot.posToVal(top, "y")];
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.zoomTo({ x: [x0, x1], y: [y0, y1] });
  }

  zoomTo(zoom) {
    this.zoom = zoom;
    this.plot.setData(this.plot.data);  // recomputes the ranges
  }

  listen(over) {
    let down = null;
    over.addEventListener("mousedown", (event) => { down = [event.clientX, event.clientY]; });
    over.addEventListener("mousemove", (event) => this.activate(this.nearest(event.offsetX, event.offsetY)));
    over.addEventListener("mouseleave", () => this.activate(null));
    over.addEventListener("click", (event) => {
      const isDrag = down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 4;
      if (this.active && !isDrag) this.onSelect(this.active.point.row);
    });
  }

  position({ x, y }) {
    return [this.plot.valToPos(x, "x"), this.plot.valToPos(y, "y")];
  }

  nearest(left, top) {
    let best = null;
    let least = kNearEnough;
    for (const group of this.shownGroups) {
      group.points.forEach((point, position) => {
        const [x, y] = this.position(point);
        const distance = Math.hypot(x - left, y - top);
        if (distance < least) { least = distance; best = { group, position, point }; }
      });
    }
    return best;
  }

  /// Shows a tooltip next to the point.
  activate(active) {
    this.active = active;
    this.tip.hidden = this.ring.hidden = !active;
    if (!active) return;
    const { row } = active.point;
    const ends = (this.ends ?? []).map(({ column }) => column);
    const columns = [this.x.column, this.y.column, ...ends, ...this.data.columns.filter((column) => column.axis)];
    this.tip.replaceChildren(make("b", {}, active.group.name),
      ...[...new Set(columns)].filter((column) => !column.isMissing(row))
        .map((column) => make("div", {}, `${column.title}: ${column.describe(row)}`)));
    const [left, top] = this.position(active.point);
    this.ring.style.left = `${left}px`;
    this.ring.style.top = `${top}px`;
    const isRight = left > this.plot.over.clientWidth / 2;
    const isLow = top > this.plot.over.clientHeight / 2;
    this.tip.style.left = isRight ? "" : `${left + 12}px`;
    this.tip.style.right = isRight ? `${this.plot.over.clientWidth - left + 12}px` : "";
    this.tip.style.top = isLow ? "" : `${top + 12}px`;
    this.tip.style.bottom = isLow ? `${this.plot.over.clientHeight - top + 12}px` : "";
  }

  onKey(event) {
    const groups = this.shownGroups.filter(({ points }) => points.length > 0);
    if (event.key === "Escape") { this.activate(null); this.zoomTo(null); return; }
    if (event.key === "Enter" && this.active) { this.onSelect(this.active.point.row); return; }
    if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].includes(event.key) || groups.length === 0) return;
    event.preventDefault();
    const here = this.active ?? { group: groups[0], position: -1 };
    let { group, position } = here;
    if (event.key === "ArrowLeft") --position;
    if (event.key === "ArrowRight") ++position;
    if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const step = event.key === "ArrowUp" ? groups.length - 1 : 1;
      group = groups[(groups.indexOf(group) + step) % groups.length];
    }
    position = Math.min(Math.max(position, 0), group.points.length - 1);
    this.activate({ group, position, point: group.points[position] });
    this.note.textContent = this.tip.innerText.replaceAll("\n", ", ");
  }

  drawLegend(columns) {
    if (columns.length === 0) return this.legend.replaceChildren();
    this.legend.replaceChildren(make("h3", {}, columns.map((column) => column.title).join(", ")),
      ...this.groups.map((group) => {
        const button = make("button", {
          type: "button", "aria-pressed": String(!this.hidden.has(group.name)), title: "Show or hide",
          onclick: () => this.toggle(group.name, button),
        }, swatch(group.style, this.hasLines || "level" in group), make("span", {}, group.name));
        return button;
      }));
  }

  toggle(name, button) {
    if (!this.hidden.delete(name)) this.hidden.add(name);
    button.setAttribute("aria-pressed", String(!this.hidden.has(name)));
    this.zoom = null;
    this.active = null;
    this.plotGroups();
  }

  /// Axes that are not shown in the chart but vary in it, in parentheses.
  others(columns) {
    const varies = (column) => this.drawn.some((row) => column.cell(row) !== column.cell(this.drawn[0]));
    const names = this.data.columns.filter((column) =>
      column.axis && column !== this.x.column && !columns.includes(column) && varies(column)).map((column) => column.title);
    return names.length ? ` (${names.join(", ")})` : "";
  }

  describe(columns) {
    const groups = this.groups.filter((group) => !("level" in group));
    const points = groups.reduce((sum, group) => sum + group.points.length, 0);
    const by = columns.length ? `, by ${columns.map((column) => column.title).join(" and ")}` : "";
    this.container.setAttribute("aria-label",
      `Chart of ${this.y.label} against ${this.x.label}${by}: ${plural(points, "point")} in ${plural(groups.length, "group")}`);
    const notes = [];
    if (this.heldAxes.texts.length) notes.push(`Showing ${this.drawn.length.toLocaleString("en")} of ${plural(this.rows.length, "row")}: those with ${this.heldAxes.texts.join(", ")}.`);
    for (const { name, level } of this.groups.filter((group) => "level" in group)) notes.push(`Horizontal line: ${name}, ${tickLabel(level)}${this.y.column.unit === "x" ? "x" : ""}.`);
    if (this.groups.some((group) => group.points.some(({ interval }) => interval.length))) notes.push("Error bars: 68 % interval.");
    if (!this.isOneLineEach && this.x.column.axis) notes.push(`No lines, because groups have several points at one x: filter or group by the other axes${this.others(columns)}.`);
    if (this.undrawn) notes.push(`${this.undrawn} more groups are not drawn; filter, or change the grouping.`);
    if (this.leftOut) notes.push(`${this.leftOut} of ${this.drawn.length} rows cannot be drawn on these axes (without a run, without a value, or not positive on a logarithmic axis).`);
    this.note.textContent = notes.join(" ");
  }
}
