// The data of the page: columns of numbers or texts, in the compact form in which they are stored.

/// Display units by kind of column, largest first.
const kUnits = {
  time: [["s", 1], ["ms", 1e-3], ["us", 1e-6]],
  bytes: [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10], ["B", 1]],
  bandwidth: [["GB/s", 1e9]],
  frequency: [["GHz", 1e9], ["MHz", 1e6]],
  operations: [["Top/s", 1e12]],
  ratio: [["x", 1]],
  fraction: [["%", 0.01]],
  decibel: [["dB", 1]],
};

/// Units accepted in filters by kind of column, in base units.
const kWrittenUnits = {
  time: { s: 1, ms: 1e-3, us: 1e-6, "µs": 1e-6, ns: 1e-9 },
  bytes: { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, kB: 1e3, MB: 1e6, GB: 1e9 },
  bandwidth: { "GB/s": 1e9, "MB/s": 1e6, "TB/s": 1e12 },
  frequency: { GHz: 1e9, MHz: 1e6 },
  operations: { "Top/s": 1e12, "Gop/s": 1e9 },
  ratio: { x: 1 },
  fraction: { "%": 0.01 },
  decibel: { dB: 1 },
};

const kMostExact = 1e15;  // integers up to here are written out

const kGrouped = new Intl.NumberFormat("en");  // shared: toLocaleString() creates one per call

/// Formats a number with four digits.
function formatNumber(value) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-3 || size >= 1e7) return value.toExponential(3);
  return size >= 1e3 ? kGrouped.format(Math.round(value)) : value.toPrecision(4);
}

function median(numbers) {
  const sorted = Float64Array.from(numbers).sort();
  return sorted.length ? sorted[sorted.length >> 1] : 0;
}

/// The largest unit in which most of the values are at least 1.
function chooseUnit(kind, values) {
  const units = kUnits[kind];
  if (!units) return ["", 1];
  const middle = median(values.filter((value) => value > 0));
  return units.find(([, size]) => middle >= size) ?? units.at(-1);
}

class Column {
  constructor(raw, rows) {
    Object.assign(this, { key: raw.key, title: raw.title, kind: raw.kind, axis: raw.axis, shown: raw.shown });
    this.isNumeric = raw.kind !== "text";
    this.codes = raw.codes ?? null;
    this.dictionary = raw.dictionary ?? null;
    this.texts = raw.texts ?? null;
    if (this.isNumeric) this.readNumbers(raw, rows);
    this.setUnit(this.isNumeric ? chooseUnit(this.kind, this.numbers) : ["", 1]);
  }

  readNumbers(raw, rows) {
    const toNumber = (value) => (value === null ? NaN : value);
    this.numbers = new Float64Array(rows);
    const source = raw.values ?? raw.codes.map((code) => raw.dictionary[code]);
    for (let row = 0; row < rows; ++row) this.numbers[row] = toNumber(source[row]);
  }

  setUnit([name, size]) {
    this.unit = name;
    this.unitSize = size;
    this.shownTexts = null;
    this.isWhole = this.isNumeric && this.numbers.every((value) =>
      Number.isNaN(value) || (Number.isInteger(value / size) && Math.abs(value / size) < kMostExact));
  }

  /// Units in the heading. Values of an axis are shown as written, with their own units.
  get unitNote() {
    if (this.texts) return { time: "s, ms, us", bytes: "B, KiB, MiB" }[this.kind] ?? this.unit;
    return this.unit;
  }

  get heading() {
    return this.unit && !this.texts ? `${this.title} (${this.unit})` : this.title;
  }

  isMissing(row) {
    return this.isNumeric ? Number.isNaN(this.numbers[row]) : this.dictionary[this.codes[row]] === null;
  }

  /// Number in the unit of the heading, or NaN.
  scaled(row) {
    return this.numbers[row] / this.unitSize;
  }

  cell(row) {
    if (!this.codes) return this.format(this.numbers[row]);
    this.shownTexts ??= this.dictionary.map((value, code) => this.texts?.[code] ?? this.formatAny(value));
    return this.shownTexts[this.codes[row]];
  }

  formatAny(value) {
    if (value === null) return "";
    return this.isNumeric ? this.format(value) : value;
  }

  format(number) {
    if (Number.isNaN(number)) return "";
    return this.isWhole ? kGrouped.format(number / this.unitSize) : formatNumber(number / this.unitSize);
  }

  /// Text of a cell with its unit, for use outside the table.
  describe(row) {
    const text = this.cell(row);
    if (text === "" || this.texts || !this.unit) return text;
    return this.unit === "x" || this.unit === "%" ? text + this.unit : `${text} ${this.unit}`;
  }

  /// Width of the widest text, in characters; sampled, as numbers of a column have similar widths.
  width(rows) {
    const step = this.codes ? 1 : Math.max(1, Math.floor(rows / 500));
    let widest = 0;
    for (let row = 0; row < rows; row += step) widest = Math.max(widest, this.cell(row).length);
    return widest;
  }

  /// Comparison function of rows; missing values come last in both directions.
  comparator(direction) {
    if (this.isNumeric) {
      const numbers = this.numbers;
      return (a, b) => {
        const x = numbers[a];
        const y = numbers[b];
        if (x === y) return 0;
        if (Number.isNaN(x)) return Number.isNaN(y) ? 0 : 1;
        if (Number.isNaN(y)) return -1;
        return x < y ? -direction : direction;
      };
    }
    // Texts repeat, so each distinct one is ranked once.
    const collator = new Intl.Collator("en", { numeric: true });
    const order = this.dictionary.map((_, code) => code);
    order.sort((a, b) => collator.compare(this.dictionary[a] ?? "", this.dictionary[b] ?? ""));
    const ranks = new Float64Array(order.length);
    order.forEach((code, rank) => { ranks[code] = this.dictionary[code] === null ? Infinity : direction * rank; });
    return (a, b) => {
      const x = ranks[this.codes[a]];
      const y = ranks[this.codes[b]];
      return x === y ? 0 : x < y ? -1 : 1;
    };
  }
}

/// Applies an RFC 6902 patch of the kind in the data: adds, removes and replaces.
function patched(base, patch) {
  let document = structuredClone(base);
  for (const { op, path, value } of patch) {
    const steps = path.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = steps.pop();
    if (last === undefined) { document = value; continue; }
    const parent = steps.reduce((at, step) => at[step], document);
    if (!Array.isArray(parent)) {
      if (op === "remove") delete parent[last];
      else Object.defineProperty(parent, last, { value, enumerable: true, writable: true, configurable: true });
    } else if (op === "remove") {
      parent.splice(Number(last), 1);
    } else if (op === "add") {
      parent.splice(last === "-" ? parent.length : Number(last), 0, value);
    } else {
      parent[Number(last)] = value;
    }
  }
  return document;
}

/// A setting as text: objects as {"link_bandwidth": "90 GB/s"} -> "link_bandwidth 90 GB/s", lists as "4 x 2".
function settingText(value) {
  if (Array.isArray(value)) return value.map(settingText).join(value.every(Number.isFinite) ? " x " : ", ");
  if (value === null || typeof value !== "object") return String(value);
  return Object.entries(value).map(([key, part]) => `${key} ${settingText(part)}`).join(", ");
}

/// A chip as text: "tpu-v5e", or "tpu-v5e (link_bandwidth 90 GB/s)" with changed parameters.
function hardwareText(hardware) {
  const { based_on: base, ...changes } = Object(hardware);
  if (typeof hardware === "string" || !base) return settingText(hardware);
  return Object.keys(changes).length ? `${base} (${settingText(changes)})` : base;
}

/// A topology as text: "slice 4x4", or "2 slices of 4x4 over a network".
function topologyText({ network, ...shape }) {
  if (!network) return settingText(shape);
  const { slice, ...others } = shape;
  return `${network.slices} slices of ${[slice, settingText(others)].filter(Boolean).join(", ")} over a network`;
}

/// A tensor as text: "tensor of 32 MiB bf16".
function tensorText({ bytes, shape, files, dtype }) {
  const size = bytes ?? (shape ? settingText(shape) : undefined);
  return size === undefined ? `tensor of ${plural(files?.length ?? 0, "file")}` : `tensor of ${size} ${dtype}`;
}

/// Columns with the reasons of rows without a run.
const kAbsences = ["error", "does_not_fit"];

class Data {
  constructor(raw) {
    Object.assign(this, { title: raw.title, version: raw.version, advice: raw.advice ?? "", notes: raw.notes, rows: raw.rows });
    this.columns = raw.columns.map((column) => new Column(column, raw.rows));
    this.rowSources = raw.row_sources;
    this.sources = raw.sources;
    this.parameterSets = raw.parameters;
    this.operationSets = raw.operations;
    this.pictures = raw.pictures;
    this.shareTimeUnit();
    this.baselines = this.column("is_baseline");
  }

  /// True if this row is the baseline of its experiment.
  isBaseline(row) {
    return this.baselines?.cell(row) === "yes";
  }

  /// Identifier of a row, independent of files and order: its key and its label.
  idOf(row) {
    return `${this.source(row).key}:${this.column("label")?.cell(row) ?? ""}`;
  }

  /// The row with this id, or null.
  rowOf(id) {
    for (let row = 0; row < this.rows; ++row) if (this.idOf(row) === id) return row;
    return null;
  }

  /// Gives all times the unit of time_s, so that they can be compared.
  shareTimeUnit() {
    const time = this.column("time_s");
    if (!time) return;
    for (const column of this.columns)
      if (column.kind === "time" && !column.texts) column.setUnit([time.unit, time.unitSize]);
  }

  /// Reason why a row has no run, like "failed: ..." or "does not fit: ..."; null if it has one.
  absence(row) {
    const column = kAbsences.map((key) => this.column(key)).find((found) => found && !found.isMissing(row));
    return column ? `${column.title}: ${column.cell(row)}` : null;
  }

  column(key) {
    return this.columns.find((column) => column.key === key);
  }

  /// The configuration of a row, or null.
  config(row) {
    const source = this.source(row);
    return source.patch ? patched(this.sources[source.base].config, source.patch) : source.config;
  }

  /// Settings shared by the configurations of all rows, as texts: machine, and workload or tensor.
  sharedSettings() {
    const textOf = {
      hardware: (hardware) => `hardware ${hardwareText(hardware)}`,
      topology: topologyText,
      workload: ({ model, phase }) => `${settingText(model)}, ${phase}`,
      tensor: tensorText,
    };
    const whole = this.sources.filter(({ patch }) => !patch).map(({ config }) => config);
    const first = whole[0];
    if (!first || whole.includes(null)) return [];
    const isSame = (key) => whole.every((config) => JSON.stringify(config[key]) === JSON.stringify(first[key])) &&
      this.sources.every(({ patch }) => !patch?.some(({ path }) => path === "" || path.split("/")[1] === key));
    return Object.keys(textOf).filter((key) => first[key] && isSame(key)).map((key) => textOf[key](first[key]));
  }

  source(row) {
    return this.sources[this.rowSources[row]];
  }

  parameters(row) {
    return this.parameterSets[this.source(row).parameters];
  }

  /// Operations of each chip in a workload, or null.
  operations(row) {
    return this.operationSets[this.source(row).operations];
  }
}
