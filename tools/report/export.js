// Export: rows as CSV, files to save, texts to copy.

/// Saves a file.
function save(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);  // long after it has been read
}

/// A file name that is valid on every system.
function fileName(title, ending) {
  return `${title.replaceAll(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 80) || "report"}${ending}`;
}

/// Copies a text; returns true on success. Pages opened as files may only have the old clipboard interface,
/// which copies the selection.
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

/// Makes a button copy the result of textOf() and report that in `status`.
function copyButton(button, status, textOf) {
  button.addEventListener("click", async () => {
    status.textContent = "";
    const isCopied = await copyText(textOf());
    status.textContent = isCopied ? "Copied." : "The browser does not allow copying; select the text and copy it manually.";
  });
}

function csvField(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/// Units of numbers in exported files.
const kBaseUnits = { time: "s", bytes: "B", bandwidth: "B/s", frequency: "Hz", operations: "op/s", decibel: "dB" };

/// Names and cells of a column in a file; an axis of quantities becomes two columns, text and number.
function csvColumns(column) {
  const unit = kBaseUnits[column.kind];
  const number = (row) => (column.isMissing(row) ? "" : String(column.numbers[row]));
  const text = { name: column.title, cell: (row) => column.cell(row) };
  if (!column.isNumeric) return [text];
  const numbers = { name: unit ? `${column.title} (${unit})` : column.title, cell: number };
  return column.texts ? [text, numbers] : [numbers];
}

/// Rows as CSV (RFC 4180) with all columns, including hidden ones. Duplicate names get their key appended.
function csvOf(data, rows) {
  const columns = data.columns.flatMap((column) => csvColumns(column).map((part) => ({ ...part, key: column.key })));
  const uses = new Map();
  for (const { name } of columns) uses.set(name, (uses.get(name) ?? 0) + 1);
  const names = columns.map(({ name, key }) => (uses.get(name) > 1 ? `${name} [${key}]` : name));
  const lines = [names, ...rows.map((row) => columns.map(({ cell }) => cell(row)))];
  return lines.map((fields) => `${fields.map(csvField).join(",")}\r\n`).join("");
}
