// The machine as a graph: places of chips and links, from the SVG that "topology --svg" draws.

const kNear = 0.2;  // pixels: the picture is written with one decimal

const kThinnerThanRing = 5;  // the ring through the chips is drawn below the cables, as broad lines

const isNear = (a, b) => Math.abs(a.x - b.x) < kNear && Math.abs(a.y - b.y) < kNear;

/// Returns chips (label -> box and centre), cables as pairs of points, and the size of the graph.
export function readPicture(svg) {
  const number = (element, name) => Number(element.getAttribute(name));
  const chips = new Map();
  for (const box of svg.querySelectorAll("g rect")) {
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => number(box, name));
    chips.set(box.nextElementSibling.textContent, { x: x + width / 2, y: y + height / 2, width, height });
  }
  const isCable = (line) => number(line, "stroke-width") < kThinnerThanRing;
  const cables = [...svg.querySelectorAll("g line")].filter(isCable).map((line) => [
    { x: number(line, "x1"), y: number(line, "y1") }, { x: number(line, "x2"), y: number(line, "y2") }]);
  return { chips, cables, box: frameOf([...chips.values()], cables.flat()) };
}

function frameOf(chips, points) {
  const kMargin = 8;
  const xs = [...points.map(({ x }) => x), ...chips.flatMap(({ x, width }) => [x - width / 2, x + width / 2])];
  const ys = [...points.map(({ y }) => y), ...chips.flatMap(({ y, height }) => [y - height / 2, y + height / 2])];
  const least = (values) => values.reduce((a, b) => Math.min(a, b));
  const most = (values) => values.reduce((a, b) => Math.max(a, b));
  const [left, top] = [least(xs) - kMargin, least(ys) - kMargin];
  return { left, top, width: most(xs) + kMargin - left, height: most(ys) + kMargin - top };
}

/// Line of a link direction from a chip to another, on its own side of the cable. A link that wraps around is drawn
/// as the stub at its start. Null if the picture has no such link.
export function lineOf({ chips, cables }, from, to) {
  const [a, b] = [chips.get(from), chips.get(to)];
  if (!a || !b) return null;
  const joins = ([p, q]) => (isNear(p, a) && isNear(q, b)) || (isNear(p, b) && isNear(q, a));
  if (cables.some(joins)) return aside(a, b);
  const stub = stubOf({ chips, cables }, a, b);
  return stub && aside(a, stub);
}

/// End of the stub at chip `a` that points away from `b`.
function stubOf({ chips, cables }, a, b) {
  const isChip = (point) => [...chips.values()].some((chip) => isNear(chip, point));
  const ends = cables.flatMap(([p, q]) => (isNear(p, a) ? [q] : isNear(q, a) ? [p] : [])).filter((end) => !isChip(end));
  const along = (end) => (end.x - a.x) * (b.x - a.x) + (end.y - a.y) * (b.y - a.y);
  return ends.sort((p, q) => along(p) - along(q))[0] ?? null;
}

function aside(a, b) {
  const kAside = 3.5;
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const [x, y] = [-(b.y - a.y) * kAside / length, (b.x - a.x) * kAside / length];
  return { x1: a.x + x, y1: a.y + y, x2: b.x + x, y2: b.y + y };
}
