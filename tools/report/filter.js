// Which rows are shown.

/// What a column's filter asks for, as a function of a row; null if it asks for nothing.
/// `problem` says what is wrong with what is meant as a comparison and cannot be read; else it is null.
function parseFilter(column, text) {
  const wanted = text.trim();
  if (wanted === "") return { problem: null, test: null };
  // Of an axis whose values are quantities parts of the text may be meant, "KiB".
  const isComparison = /^([<>=!]|[-+.\d]+\s*[a-zA-Zµ%/]*\s*$|.*\.\.)/.test(wanted);
  if (!column.isNumeric || (column.texts && !isComparison))
    return { problem: null, test: textTest(column, wanted.toLowerCase()) };
  const test = parseComparisons(column, wanted);
  return { test, problem: test ? null : `${column.title}: ${problemOf(column, wanted)}` };
}

/// Examples of what can be asked of numbers, by kind of column.
const kExamples = { time: ">100 us", bytes: "<=64 KiB", bandwidth: ">40 GB/s", fraction: ">50 %", decibel: ">30 dB" };

/// Why a comparison cannot be read, and what could be.
function problemOf(column, wanted) {
  const known = Object.keys(kWrittenUnits[column.kind] ?? {});
  const unit = [...wanted.matchAll(new RegExp(kNumber, "gi"))].map((match) => match[2]).find((name) => name && !known.includes(name));
  if (unit) return `“${unit}” is no unit of it; ${known.length ? `it has ${known.join(", ")}` : "it has none"}.`;
  return `“${wanted}” compares with no number; write ${kExamples[column.kind] ?? ">1.5"} or 100..200.`;
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

/// Equal as far as people see.
function nearly(a, b) {
  return Math.abs(a - b) <= 5e-4 * Math.max(Math.abs(a), Math.abs(b));
}

const kComparisons = {
  "<": (a, b) => a < b, "<=": (a, b) => a <= b || nearly(a, b), ">": (a, b) => a > b,
  ">=": (a, b) => a >= b || nearly(a, b), "=": nearly, "!=": (a, b) => !nearly(a, b),
};

/// A test of a row for ">1.5 <2", "1..2" or "8"; null if it is none of them.
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

/// A test of a row by the text of its cell; of texts that repeat each is tested once.
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
    this.texts = new Map();     // by column, as typed
    this.byColumn = new Map();  // tests
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

  /// Each word must be in some cell that holds a text, or a value of an axis.
  wordTests() {
    const searched = this.data.columns.filter((column) => column.axis || !column.isNumeric);
    return this.words.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
      const tests = searched.map((column) => byCell(column, (text) => text.includes(word)));
      return (row) => tests.some((test) => test(row));
    });
  }

  /// The rows that pass, in the order of the data.
  rows() {
    const tests = [...this.wordTests(), ...this.byColumn.values()];
    const rows = [];
    for (let row = 0; row < this.data.rows; ++row) if (tests.every((test) => test(row))) rows.push(row);
    return rows;
  }
}
