// Styles of the chart's groups: distinguished by colour, and also by dashes and markers.

// Okabe and Ito, Color Universal Design, 2008; without yellow, which is too pale for lines.
const kColours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
const kColoursOnDark = ["#5AB4F0", "#FF8A4C", "#3DC9A0", "#E6A6CC", "#F0B840", "#B4DDF7"];
const kDashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [15, 4], [4, 2, 1, 2, 1, 2], [1, 5]];
const kMarkers = [
  { path: "M-1,0a1,1 0 1,0 2,0a1,1 0 1,0 -2,0Z", filled: true },
  { path: "M-.9,-.9H.9V.9H-.9Z", filled: false },
  { path: "M0,-1.1L1.05,.8H-1.05Z", filled: true },
  { path: "M0,-1.25L1.25,0L0,1.25L-1.25,0Z", filled: false },
  { path: "M-1,-1L1,1M-1,1L1,-1", filled: false },
  { path: "M-1,0a1,1 0 1,0 2,0a1,1 0 1,0 -2,0Z", filled: false },
  { path: "M-.9,-.9H.9V.9H-.9Z", filled: true },
  { path: "M0,1.1L1.05,-.8H-1.05Z", filled: false },
  { path: "M0,-1.25L1.25,0L0,1.25L-1.25,0Z", filled: true },
  { path: "M0,-1.2V1.2M-1.2,0H1.2", filled: false },
];
const kMarkerRadius = 4;
const kMostGroups = 16;

/// Style of a group. The numbers of colours, dashes and markers differ, so that each group gets a unique style.
function styleOf(index, isDark) {
  const colours = isDark ? kColoursOnDark : kColours;
  return {
    colour: colours[index % colours.length],
    dash: kDashes[index % kDashes.length],
    marker: kMarkers[index % kMarkers.length],
  };
}

function svgElement(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/// Sample of a group's line and marker, for the legend.
function swatch({ colour, dash, marker }, hasLine, ground = "var(--ground)") {
  const svg = svgElement("svg", { width: 44, height: 16, viewBox: "0 0 44 16", "aria-hidden": "true" });
  if (hasLine)
    svg.append(svgElement("line", { x1: 1, x2: 43, y1: 8, y2: 8, stroke: colour, "stroke-width": 2, "stroke-dasharray": dash.join(" ") }));
  if (marker) svg.append(markerShape({ colour, marker }, 22, 8, ground));
  return svg;
}

function markerShape({ colour, marker }, x, y, ground) {
  return svgElement("path", {
    d: marker.path, transform: `translate(${x} ${y}) scale(${kMarkerRadius})`, stroke: colour,
    "stroke-width": 1.8 / kMarkerRadius, fill: marker.filled ? colour : ground,
  });
}

/// Draws a horizontal line on a canvas at y, in pixels, if that is in the box.
function drawLevel(context, { colour, dash }, { left, top, width, height }, y) {
  if (y < top || y > top + height) return;
  context.save();
  context.strokeStyle = colour;
  context.lineWidth = 1.5 * devicePixelRatio;
  context.setLineDash(dash.map((length) => length * devicePixelRatio));
  context.beginPath();
  context.moveTo(left, y);
  context.lineTo(left + width, y);
  context.stroke();
  context.restore();
}

/// Marker as a small canvas, which is faster to copy thousands of times than to draw.
function markerStamp({ colour, marker }, ground, radius) {
  const half = Math.ceil(radius * 1.6);
  const stamp = make("canvas", { width: 2 * half, height: 2 * half });
  const context = stamp.getContext("2d");
  const path = new Path2D(marker.path);
  context.setTransform(radius, 0, 0, radius, half, half);
  context.lineWidth = 1.6 / kMarkerRadius;
  context.strokeStyle = colour;
  context.fillStyle = marker.filled ? colour : ground;
  context.fill(path);
  context.stroke(path);
  return stamp;
}

/// Draws error bars [x, one end, other end] on a canvas, in pixels, with caps as wide as a marker.
function drawErrorBars(context, { colour }, radius, bars) {
  context.save();
  context.strokeStyle = colour;
  context.lineWidth = devicePixelRatio;
  context.setLineDash([]);  // resets the dashes of the group's line
  context.beginPath();
  for (const [x, ...ends] of bars) {
    context.moveTo(x, ends[0]);
    context.lineTo(x, ends[1]);
    for (const end of ends) {
      context.moveTo(x - radius, end);
      context.lineTo(x + radius, end);
    }
  }
  context.stroke();
  context.restore();
}

/// Draws markers on a canvas, at positions in pixels.
function drawMarkers(context, style, ground, radius, positions) {
  const stamp = markerStamp(style, ground, radius);
  const half = stamp.width / 2;
  for (const [x, y] of positions) context.drawImage(stamp, x - half, y - half);
}
