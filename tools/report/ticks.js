// Ticks and labels of the chart's axes.

/// Step of 1, 2 or 5 times a power of ten, so that about `count` steps fill the range.
function niceStep(range, count) {
  const rough = range / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((factor) => rough <= factor * power);
}

function linearTicks(low, high, count) {
  const step = niceStep(high - low, count);
  const ticks = [];
  for (let index = Math.ceil(low / step); index * step <= high; ++index) ticks.push(Number((index * step).toPrecision(12)));
  return ticks;
}

/// Powers of the base in the range, times each of the factors; at most `count` powers.
function powerTicks(low, high, base, factors, count) {
  const log = (value) => Math.log(value) / Math.log(base);
  const powers = [];
  for (let power = Math.floor(log(low)); power <= Math.ceil(log(high)); ++power)
    if (factors.some((factor) => factor * base ** power >= low && factor * base ** power <= high)) powers.push(power);
  const step = Math.max(1, Math.ceil(powers.length / count));
  return powers.filter((_, index) => index % step === 0)
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

/// An axis of the chart: the numbers of a column, or indices of its texts.
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
    this.indices = new Map(used.map((row, index) => [this.column.codes[row], index]));
  }

  /// Position of a row, or NaN if it cannot be drawn.
  value(row) {
    if (this.names) return this.column.isMissing(row) ? NaN : this.indices.get(this.column.codes[row]);
    const value = this.column.scaled(row);
    return this.isLog && value <= 0 ? NaN : value;
  }

  /// True if each tick label has its own unit.
  get ownsUnits() {
    return this.column.kind === "bytes" && this.isLog;
  }

  get label() {
    return this.ownsUnits || !this.column.unit ? this.column.title : `${this.column.title} (${this.column.unit})`;
  }

  /// Range of the axis for values from low to high.
  range(low, high) {
    if (this.names) return [-0.5, this.names.length - 0.5];
    if (low > high) return this.isLog ? [1, 10] : [0, 1];
    if (this.isLog) {
      const room = low === high ? 2 : Math.max(1.05, (high / low) ** 0.05);
      return [low / room, high * room];
    }
    const room = high === low ? Math.abs(high) / 2 || 1 : (high - low) * 0.06;
    // Starts at zero to show proportions, unless that would squeeze the values into the upper part.
    return [low >= 0 && (low < 0.6 * high || low === high) ? 0 : low - room, high + room];
  }

  ticks(low, high, length) {
    const count = Math.max(2, Math.floor(length / (this.isHorizontal ? 75 : 45)));
    if (this.names) return this.names.map((_, index) => index).filter((index) => index >= low && index <= high);
    return this.isLog ? logTicks(low, high, this.column.kind === "bytes", count) : linearTicks(low, high, count);
  }

  labels(ticks) {
    if (this.names) return ticks.map((index) => this.names[index]);
    if (this.ownsUnits) return ticks.map((tick) => bytesLabel(tick * this.column.unitSize));
    return ticks.map(tickLabel);
  }
}
