// Ways out of the page: rows as CSV, files to save, texts to copy.

/// Makes the browser save a file.
function save(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);  // when it has long been read
}

/// A name of a file that every system takes.
function fileName(title, ending) {
  return `${title.replaceAll(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 80) || "report"}${ending}`;
}

/// Copies a text; returns whether that could be done. A page that was opened as a file may have no
/// clipboard but the old one, which takes what is selected.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const focused = document.activeElement;
    const area = make("textarea", { class: "offscreen", readonly: true, "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    focused?.focus({ preventScroll: true });
    return isCopied;
  }
}

/// A button that copies what `textOf` gives, and says so in `status`.
function copyButton(button, status, textOf) {
  button.addEventListener("click", async () => {
    status.textContent = "";
    const isCopied = await copyText(textOf());
    status.textContent = isCopied ? "Copied." : "This browser does not let the page copy; select the text and copy it by hand.";
  });
}

function csvField(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/// What numbers of the columns are in, in a file: the unit that all else follows from.
const kBaseUnits = { time: "s", bytes: "B", bandwidth: "B/s", frequency: "Hz", operations: "op/s", decibel: "dB" };

/// Names and cells of a column in a file: of an axis of quantities the text and, beside it, the number.
function csvColumns(column) {
  const unit = kBaseUnits[column.kind];
  const number = (row) => (column.isMissing(row) ? "" : String(column.numbers[row]));
  const text = { name: column.title, cell: (row) => column.cell(row) };
  if (!column.isNumeric) return [text];
  const numbers = { name: unit ? `${column.title} (${unit})` : column.title, cell: number };
  return column.texts ? [text, numbers] : [numbers];
}

/// These rows with all columns, shown or not, as RFC 4180 has it. Names that repeat say their key, too.
function csvOf(data, rows) {
  const columns = data.columns.flatMap((column) => csvColumns(column).map((part) => ({ ...part, key: column.key })));
  const uses = new Map();
  for (const { name } of columns) uses.set(name, (uses.get(name) ?? 0) + 1);
  const names = columns.map(({ name, key }) => (uses.get(name) > 1 ? `${name} [${key}]` : name));
  const lines = [names, ...rows.map((row) => columns.map(({ cell }) => cell(row)))];
  return lines.map((fields) => `${fields.map(csvField).join(",")}\r\n`).join("");
}
