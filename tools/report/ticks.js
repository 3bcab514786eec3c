// Places and labels of the chart's axes.

/// 1, 2 or 5 times a power of ten, so that about `count` of them fill the range.
function niceStep(range, count) {
  const rough = range / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((factor) => rough <= factor * power);
}

function linearTicks(low, high, count) {
  const step = niceStep(high - low, count);
  const ticks = [];
  for (let place = Math.ceil(low / step); place * step <= high; ++place) ticks.push(Number((place * step).toPrecision(12)));
  return ticks;
}

/// Powers of the base in the range, each multiplied by each factor, thinned out to at most `count` powers.
function powerTicks(low, high, base, factors, count) {
  const log = (value) => Math.log(value) / Math.log(base);
  const powers = [];
  for (let power = Math.floor(log(low)); power <= Math.ceil(log(high)); ++power)
    if (factors.some((factor) => factor * base ** power >= low && factor * base ** power <= high)) powers.push(power);
  const step = Math.max(1, Math.ceil(powers.length / count));
  return powers.filter((_, place) => place % step === 0)
    .flatMap((power) => factors.map((factor) => factor * base ** power))
    .filter((tick) => tick >= low && tick <= high);
}

function logTicks(low, high, isBinary, count) {
  if (isBinary && high / low > 4) return powerTicks(low, high, 2, [1], count);
  const decades = Math.log10(high / low);
  if (decades < 0.7) return linearTicks(low, high, count);
  if (decades < 1.6) return powerTicks(low, high, 10, [1, 2, 3, 5, 7], count);
  return powerTicks(low, high, 10, decades < 4 ? [1, 2, 5] : [1], count);
}

/// 65536 -> "64 KiB"
function bytesLabel(bytes) {
  const [name, size] = kUnits.bytes.find(([, unit]) => bytes >= unit) ?? kUnits.bytes.at(-1);
  return `${Number((bytes / size).toPrecision(4))} ${name}`;
}

function tickLabel(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(1).replace(".0e", "e").replace("e+", "e");
  return Number(value.toPrecision(6)).toLocaleString("en", { maximumFractionDigits: 6 });
}

const kLongestName = 24;

function shortened(name) {
  return name.length > kLongestName ? `${name.slice(0, kLongestName - 1)}…` : name;
}

/// An axis of the chart: a column, or of texts the places of their values side by side.
class Axis {
  constructor(column, isLog, rows) {
    this.column = column;
    this.isLog = isLog && column.isNumeric;
    if (!column.isNumeric) this.placeTexts(rows);
  }

  placeTexts(rows) {
    const used = [...new Map(rows.filter((row) => !this.column.isMissing(row)).map((row) => [this.column.codes[row], row])).values()];
    used.sort(this.column.comparator(1));
    this.names = used.map((row) => shortened(this.column.cell(row)));
    this.places = new Map(used.map((row, place) => [this.column.codes[row], place]));
  }

  /// Where a row is, or NaN if it cannot be drawn.
  value(row) {
    if (this.names) return this.column.isMissing(row) ? NaN : this.places.get(this.column.codes[row]);
    const value = this.column.scaled(row);
    return this.isLog && value <= 0 ? NaN : value;
  }

  /// Whether each tick is labelled with a unit of its own.
  get ownsUnits() {
    return this.column.kind === "bytes" && this.isLog;
  }

  get label() {
    return this.ownsUnits || !this.column.unit ? this.column.title : `${this.column.title} (${this.column.unit})`;
  }

  /// What is shown of values from low to high.
  range(low, high) {
    if (this.names) return [-0.5, this.names.length - 0.5];
    if (low > high) return this.isLog ? [1, 10] : [0, 1];
    if (this.isLog) {
      const room = low === high ? 2 : Math.max(1.05, (high / low) ** 0.05);
      return [low / room, high * room];
    }
    const room = high === low ? Math.abs(high) / 2 || 1 : (high - low) * 0.06;
    // A scale from zero shows proportions, unless the values would be squeezed into its upper part.
    return [low >= 0 && (low < 0.6 * high || low === high) ? 0 : low - room, high + room];
  }

  ticks(low, high, length) {
    const count = Math.max(2, Math.floor(length / (this.isHorizontal ? 75 : 45)));
    if (this.names) return this.names.map((_, place) => place).filter((place) => place >= low && place <= high);
    return this.isLog ? logTicks(low, high, this.column.kind === "bytes", count) : linearTicks(low, high, count);
  }

  labels(ticks) {
    if (this.names) return ticks.map((place) => this.names[place]);
    if (this.ownsUnits) return ticks.map((tick) => bytesLabel(tick * this.column.unitSize));
    return ticks.map(tickLabel);
  }
}
