// The chart as SVG and PNG file, with title, legend and fixed axes.

const kFigure = { width: 960, left: 84, right: 24, top: 66, plot: 420, legendRow: 22 };
const kFigureInk = { ink: "#000", rule: "#ddd", ground: "#fff" };
const kCharacter = 7;  // approximate width of a character of 13 px sans-serif, in pixels

/// Scale of an axis of the figure: maps values to pixels from `start` over `length`.
function scaleOf(axis, [low, high], start, length) {
  const scale = axis.isLog ? Math.log : (value) => value;
  return (value) => start + length * (scale(value) - scale(low)) / (scale(high) - scale(low));
}

class Figure {
  /// Captures the current state of the chart.
  constructor(chart, title) {
    this.chart = chart;
    this.title = title;
    this.width = kFigure.width - kFigure.left - kFigure.right;
    this.ranges = { ...chart.full, ...chart.zoom };
    this.isSlanted = chart.x.names?.join("").length > 80;
    const longest = Math.max(0, ...(chart.x.names ?? []).map((name) => name.length));
    this.foot = kFigure.top + kFigure.plot + (this.isSlanted ? 30 + longest * 4.5 : 54);
    this.across = scaleOf(chart.x, this.ranges.x, kFigure.left, this.width);
    this.down = scaleOf(chart.y, this.ranges.y, kFigure.top + kFigure.plot, -kFigure.plot);
    this.groups = chart.shownGroups.map((group) =>
      ({ ...group, style: group.look === null ? { ...group.style, colour: kFigureInk.ink } : styleOf(group.look, false) }));
  }

  text(x, y, content, attributes = {}) {
    const element = svgElement("text", { x, y, ...attributes });
    element.textContent = content;
    this.svg.append(element);
  }

  line(x1, y1, x2, y2, attributes, parent = this.svg) {
    parent.append(svgElement("line", { x1, y1, x2, y2, ...attributes }));
  }

  /// Returns the complete file.
  draw() {
    const columns = this.legendColumns();
    const height = this.foot + Math.ceil(this.groups.length / columns) * kFigure.legendRow + 16;
    this.svg = svgElement("svg", {
      xmlns: "http://www.w3.org/2000/svg", width: kFigure.width, height, viewBox: `0 0 ${kFigure.width} ${height}`,
      "font-family": "DejaVu Sans, Helvetica, Arial, sans-serif", "font-size": 13, fill: kFigureInk.ink,
    });
    this.svg.append(svgElement("rect", { width: kFigure.width, height, fill: kFigureInk.ground }));
    this.text(kFigure.left, 26, this.title, { "font-size": 17, "font-weight": "bold" });
    this.text(kFigure.left, 48, this.chart.heldAxes.texts.join(", "), { fill: "#555" });
    this.drawAcross();
    this.drawDown();
    this.drawGroups();
    this.drawLegend(columns);
    this.size = { width: kFigure.width, height };
    return new XMLSerializer().serializeToString(this.svg);
  }

  drawAcross() {
    const { x } = this.chart;
    const bottom = kFigure.top + kFigure.plot;
    const ticks = x.ticks(...this.ranges.x, this.width);
    const labels = x.labels(ticks);
    ticks.map(this.across).forEach((at, i) => {
      this.line(at, kFigure.top, at, bottom + 5, { stroke: kFigureInk.rule });
      const slant = this.isSlanted ? { "text-anchor": "end", transform: `rotate(-35 ${at} ${bottom + 16})` } : { "text-anchor": "middle" };
      this.text(at, bottom + 20, labels[i], slant);
    });
    this.text(kFigure.left + this.width / 2, this.foot - 12, x.label, { "text-anchor": "middle", "font-weight": "bold" });
  }

  drawDown() {
    const { y } = this.chart;
    const ticks = y.ticks(...this.ranges.y, kFigure.plot);
    const labels = y.labels(ticks);
    ticks.map(this.down).forEach((at, i) => {
      this.line(kFigure.left - 5, at, kFigure.left + this.width, at, { stroke: kFigureInk.rule });
      this.text(kFigure.left - 9, at + 4.5, labels[i], { "text-anchor": "end" });
    });
    const middle = kFigure.top + kFigure.plot / 2;
    this.text(20, middle, y.label, { "text-anchor": "middle", "font-weight": "bold", transform: `rotate(-90 20 ${middle})` });
  }

  drawGroups() {
    const box = { x: kFigure.left, y: kFigure.top, width: this.width, height: kFigure.plot };
    // The inner picture clips its content.
    const inside = svgElement("svg", { ...box, viewBox: Object.values(box).join(" ") });
    this.svg.append(inside, svgElement("rect", { ...box, fill: "none", stroke: "#888" }));
    for (const group of this.groups) this.drawGroup(group, inside);
  }

  drawGroup({ style, points, level }, parent) {
    const stroke = { stroke: style.colour, "stroke-width": 2, "stroke-dasharray": style.dash.join(" ") };
    if (level !== undefined)
      return this.line(kFigure.left, this.down(level), kFigure.left + this.width, this.down(level), stroke, parent);
    const marks = points.map(({ x, y, interval }) => ({ x: this.across(x), y: this.down(y), ends: interval.map(this.down) }));
    if (this.chart.hasLines)
      parent.append(svgElement("polyline", { ...stroke, fill: "none", points: marks.map(({ x, y }) => `${x},${y}`).join(" ") }));
    for (const { x, y, ends } of marks) {
      if (ends.length) this.line(x, ends[0], x, ends[1], { stroke: style.colour }, parent);
      for (const end of ends) this.line(x - kMarkerRadius, end, x + kMarkerRadius, end, { stroke: style.colour }, parent);
      parent.append(markerShape(style, x, y, kFigureInk.ground));
    }
  }

  legendColumns() {
    const longest = Math.max(1, ...this.groups.map(({ name }) => name.length));
    return Math.max(1, Math.floor(this.width / (longest * kCharacter + 70)));
  }

  drawLegend(columns) {
    this.groups.forEach(({ name, style, level }, i) => {
      const piece = swatch(style, this.chart.hasLines || level !== undefined, kFigureInk.ground);
      const x = kFigure.left + (i % columns) * this.width / columns;
      const y = this.foot + Math.floor(i / columns) * kFigure.legendRow;
      const group = svgElement("g", { transform: `translate(${x} ${y})` });
      group.append(...piece.children);
      this.svg.append(group);
      this.text(x + 52, y + 12.5, name);
    });
  }
}

/// Renders an SVG file at twice its size, as PNG.
async function pngOf(svg, { width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = make("canvas", { width: 2 * width, height: 2 * height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/// Connects the buttons that save the chart.
function offerFigure(chart, title) {
  document.getElementById("save-svg").addEventListener("click", () =>
    save(fileName(title, ".svg"), "image/svg+xml", new Figure(chart, title).draw()));
  document.getElementById("save-png").addEventListener("click", async () => {
    const figure = new Figure(chart, title);
    save(fileName(title, ".png"), "image/png", await pngOf(figure.draw(), figure.size));
  });
}
