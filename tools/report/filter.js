// Which rows are shown.

/// What a column's filter asks for, as a function of a row; null if it asks for nothing.
/// `valid` is false for what is meant as a comparison and cannot be read.
function parseFilter(column, text) {
  const wanted = text.trim();
  if (wanted === "") return { valid: true, test: null };
  if (column.isNumeric && /^([<>=!]|[-+.\d]+\s*[a-zA-Zµ%/]*\s*$|.*\.\.)/.test(wanted)) {
    const test = parseComparisons(column, wanted);
    if (test) return { valid: true, test };
    return { valid: false, test: null };
  }
  return { valid: true, test: textTest(column, wanted.toLowerCase()) };
}

const kNumber = String.raw`([-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([a-zA-Zµ%/]*)`;
const kRange = new RegExp(`^${kNumber}\\s*\\.\\.\\s*${kNumber}$`, "i");
const kTerm = new RegExp(`(<=|>=|!=|<|>|=)\\s*${kNumber}`, "gi");
const kPlain = new RegExp(`^${kNumber}$`, "i");

function toNumber(column, digits, unit) {
  const number = Number(digits.replaceAll(",", ""));
  if (unit === "") return column.texts ? number : number * column.unitSize;
  return unit in kWrittenUnits ? number * kWrittenUnits[unit] : NaN;
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
    this.byColumn = new Map();
  }

  get isActive() {
    return this.words.trim() !== "" || this.byColumn.size > 0;
  }

  /// Returns whether the text could be read.
  setColumn(column, text) {
    const { valid, test } = parseFilter(column, text);
    if (test) this.byColumn.set(column, test);
    else this.byColumn.delete(column);
    return valid;
  }

  clear() {
    this.words = "";
    this.byColumn.clear();
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
