// Charts, drawn by uPlot with the ticks and marks of the report page (tools/report).

import { html, useEffect, useRef } from "./libraries.js";

const kHeight = 260;

function coloursNow() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return { ink: of("--ink"), rule: of("--rule"), ground: of("--ground"), isDark: matchMedia("(prefers-color-scheme: dark)").matches };
}

function rangeOf(values, isLog, include = []) {
  const all = [...values, ...include].filter((value) => Number.isFinite(value));
  const low = all.reduce((a, b) => Math.min(a, b), Infinity);
  const high = all.reduce((a, b) => Math.max(a, b), -Infinity);
  if (low > high) return isLog ? [1, 10] : [0, 1];
  if (isLog) return [low / 1.15, high * 1.15];
  const room = (high - low || high) * 0.08;
  return [low >= 0 && low < 0.7 * high ? 0 : low - room, high + room];
}

function axisOptions({ label, isLog, isBytes, text }, isHorizontal, { ink, rule }) {
  const ticks = (low, high, length) => {
    const count = Math.max(2, Math.floor(length / (isHorizontal ? 80 : 45)));
    return isLog ? logTicks(low, high, isBytes, count) : linearTicks(low, high, count);
  };
  return {
    label, labelFont: "600 13px system-ui, sans-serif", font: "12px system-ui, sans-serif", labelSize: 22, stroke: ink,
    grid: { stroke: rule, width: 1 }, ticks: { stroke: rule, width: 1 }, size: isHorizontal ? 32 : 56,
    splits: (plot, index, low, high) => ticks(low, high, (isHorizontal ? plot.bbox.width : plot.bbox.height) / devicePixelRatio),
    filter: (plot, splits) => splits,
    values: (plot, splits) => splits.map(isBytes ? bytesLabel : text ?? tickLabel),
  };
}

/// Options of uPlot for series of points { name, points: [[x, y]], isMark }, with a horizontal line at `level`.
function optionsOf({ x, y, series, level, width }, data, colours) {
  const ranges = {
    x: rangeOf(data[0], x.isLog), y: rangeOf(data.slice(1).flat(), y.isLog, level === undefined ? [] : [level]) };
  const scale = (axis, range) => ({ time: false, distr: axis.isLog ? 3 : 1, range: () => range });
  const mark = (plot, index) => {
    const { points, isLarge } = series[index - 1] ?? {};
    if (!points) return;
    const at = points.map(([a, b]) => [plot.valToPos(a, "x", true), plot.valToPos(b, "y", true)]);
    drawMarkers(plot.ctx, styleOf(index - 1, colours.isDark), colours.ground, (isLarge ? 1.8 : 1) * 4 * devicePixelRatio, at);
  };
  const line = (plot) => {
    if (level !== undefined) drawLevel(plot.ctx, { colour: colours.ink, dash: [6, 3] }, plot.bbox, plot.valToPos(level, "y", true));
  };
  return {
    width, height: kHeight, legend: { show: false }, cursor: { show: false }, scales: { x: scale(x, ranges.x), y: scale(y, ranges.y) },
    axes: [axisOptions(x, true, colours), axisOptions(y, false, colours)],
    series: [{}, ...series.map(({ isMark }, i) => ({
      stroke: styleOf(i, colours.isDark).colour, width: 2, dash: styleOf(i, colours.isDark).dash, spanGaps: true, points: { show: false },
      ...(isMark ? { paths: () => null } : {}),
    }))],
    hooks: { drawSeries: [mark], draw: [line] },
  };
}

/// Columns of uPlot: all x in order, and a y of each series, or null.
function columnsOf(series) {
  const xs = [...new Set(series.flatMap(({ points }) => points.map(([x]) => x)))].sort((a, b) => a - b);
  return [xs, ...series.map(({ points }) => {
    const by = new Map(points);
    return xs.map((x) => by.get(x) ?? null);
  })];
}

/// A chart with its description for screen readers, and a legend if it has several series.
export function Chart({ title, description, x, y, series, level }) {
  const place = useRef(null);
  useEffect(() => {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    let plot = null;
    const draw = () => {
      plot?.destroy();
      const width = Math.max(place.current.clientWidth, 200);
      const data = columnsOf(series);
      plot = new uPlot(optionsOf({ x, y, series, level, width }, data, coloursNow()), data, place.current);
    };
    const watcher = new ResizeObserver(() => { if (plot?.width !== Math.max(place.current.clientWidth, 200)) draw(); });
    watcher.observe(place.current);
    dark.addEventListener("change", draw);
    return () => { watcher.disconnect(); dark.removeEventListener("change", draw); plot?.destroy(); };
  }, [JSON.stringify({ x, y, series, level })]);
  return html`<figure class="chart"><figcaption>${title}</figcaption>
    <div ref=${place} class="plot" role="img" aria-label="${title}. ${description}"></div>
    ${series.length > 1 && html`<${Legend} series=${series} />`}
    <p class="hint">${description}</p></figure>`;
}

function Legend({ series }) {
  const place = useRef(null);
  useEffect(() => {
    const { isDark } = coloursNow();
    place.current.replaceChildren(...series.flatMap(({ name, isMark }, i) => {
      const item = document.createElement("span");
      item.append(swatch(styleOf(i, isDark), !isMark), name);
      return [item];
    }));
  });
  return html`<p class="legend" ref=${place}></p>`;
}
