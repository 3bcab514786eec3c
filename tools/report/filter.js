// Filters of rows.

/// Parses a column's filter into `test`, a predicate of rows, or null if empty. `problem` is an error message
/// for a comparison that cannot be parsed, else null.
function parseFilter(column, text) {
  const wanted = text.trim();
  if (wanted === "") return { problem: null, test: null };
  // For an axis of quantities, other filters match parts of the text, like "KiB".
  const isComparison = /^([<>=!]|[-+.\d]+\s*[a-zA-Zµ%/]*\s*$|.*\.\.)/.test(wanted);
  if (!column.isNumeric || (column.texts && !isComparison))
    return { problem: null, test: textTest(column, wanted.toLowerCase()) };
  const test = parseComparisons(column, wanted);
  return { test, problem: test ? null : `${column.title}: ${problemOf(column, wanted)}` };
}

/// Examples of comparisons, by kind of column.
const kExamples = { time: ">100 us", bytes: "<=64 KiB", bandwidth: ">40 GB/s", fraction: ">50 %", decibel: ">30 dB" };

/// Error message for a comparison that cannot be parsed, with a remedy.
function problemOf(column, wanted) {
  const known = Object.keys(kWrittenUnits[column.kind] ?? {});
  const unit = [...wanted.matchAll(new RegExp(kNumber, "gi"))].map((match) => match[2]).find((name) => name && !known.includes(name));
  if (unit) return `unknown unit “${unit}”; ${known.length ? `use one of ${known.join(", ")}` : "it has no unit"}.`;
  return `“${wanted}” is not a comparison; write ${kExamples[column.kind] ?? ">1.5"} or 100..200.`;
}

const kNumber = String.raw`([-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([a-zA-Zµ%/]*)`;
const kRange = new RegExp(`^${kNumber}\\s*\\.\\.\\s*${kNumber}$`, "i");
const kTerm = new RegExp(`(<=|>=|!=|<|>|=)\\s*${kNumber}`, "gi");
const kPlain = new RegExp(`^${kNumber}$`, "i");

function toNumber(column, digits, unit) {
  const number = Number(digits.replaceAll(",", ""));
  if (unit === "") return column.texts ? number : number * column.unitSize;
  return number * (kWrittenUnits[column.kind]?.[unit] ?? NaN);
}

/// True if two numbers are equal in the displayed digits.
function nearly(a, b) {
  return Math.abs(a - b) <= 5e-4 * Math.max(Math.abs(a), Math.abs(b));
}

const kComparisons = {
  "<": (a, b) => a < b, "<=": (a, b) => a <= b || nearly(a, b), ">": (a, b) => a > b,
  ">=": (a, b) => a >= b || nearly(a, b), "=": nearly, "!=": (a, b) => !nearly(a, b),
};

/// Predicate of rows for ">1.5 <2", "1..2" or "8"; null for another text.
function parseComparisons(column, text) {
  const terms = [];
  const range = text.match(kRange);
  const plain = text.match(kPlain);
  if (range) {
    terms.push([">=", toNumber(column, range[1], range[2])], ["<=", toNumber(column, range[3], range[4])]);
  } else if (plain) {
    terms.push(["=", toNumber(column, plain[1], plain[2])]);
  } else {
    if (text.replaceAll(kTerm, "").replaceAll(/[\s&]/g, "") !== "") return null;
    for (const [, sign, digits, unit] of text.matchAll(kTerm))
      terms.push([sign, toNumber(column, digits, unit)]);
  }
  if (terms.length === 0 || terms.some(([, number]) => Number.isNaN(number))) return null;
  return (row) => {
    const value = column.numbers[row];
    return !Number.isNaN(value) && terms.every(([sign, number]) => kComparisons[sign](value, number));
  };
}

function textTest(column, wanted) {
  const negated = wanted.startsWith("!");
  const alternatives = (negated ? wanted.slice(1) : wanted).split("|").map((part) => part.trim()).filter(Boolean);
  const matches = (text) => alternatives.some((part) =>
    part.startsWith("=") ? text === part.slice(1) : text.includes(part));
  if (alternatives.length === 0) return null;
  return byCell(column, (text) => matches(text) !== negated);
}

/// Predicate of rows by the text of their cell; each distinct text is tested once.
function byCell(column, test) {
  if (!column.codes) return (row) => test(column.cell(row).toLowerCase());
  const known = new Map();
  return (row) => {
    const code = column.codes[row];
    if (!known.has(code)) known.set(code, test(column.cell(row).toLowerCase()));
    return known.get(code);
  };
}

class Filter {
  constructor(data) {
    this.data = data;
    this.words = "";
    this.texts = new Map();     // as typed, by column
    this.byColumn = new Map();  // predicates, by column
    this.problems = new Map();
  }

  get isActive() {
    return this.words.trim() !== "" || this.texts.size > 0;
  }

  setColumn(column, text) {
    const { problem, test } = parseFilter(column, text);
    const keep = (map, value) => (value ? map.set(column, value) : map.delete(column));
    keep(this.texts, text.trim());
    keep(this.byColumn, test);
    keep(this.problems, problem);
  }

  clear() {
    this.words = "";
    for (const map of [this.texts, this.byColumn, this.problems]) map.clear();
  }

  /// Predicates of the words: each must occur in some text or axis value of the row.
  wordTests() {
    const searched = this.data.columns.filter((column) => column.axis || !column.isNumeric);
    return this.words.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
      const tests = searched.map((column) => byCell(column, (text) => text.includes(word)));
      return (row) => tests.some((test) => test(row));
    });
  }

  /// Rows that pass, in the order of the data.
  rows() {
    const tests = [...this.wordTests(), ...this.byColumn.values()];
    const rows = [];
    for (let row = 0; row < this.data.rows; ++row) if (tests.every((test) => test(row))) rows.push(row);
    return rows;
  }
}
