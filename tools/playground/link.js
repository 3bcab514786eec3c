// The question and its settings in the address of the page, so that a link holds them.

/// Separator of the members of a set, such as formats.
const kBetween = ",";

/// Writes a question and the settings that differ from their defaults: "q=collective&/tensor/bytes=64 MiB".
export function encodeLink({ question, values }, fields) {
  const choices = new URLSearchParams({ q: question });
  for (const field of fields) {
    const value = values[field.key];
    if (value === undefined || sameValue(value, field.standard)) continue;
    choices.set(field.key, Array.isArray(value) ? value.join(kBetween) : String(value));
  }
  for (const [key, value] of Object.entries(values.changed ?? {})) choices.set(`set:${key}`, value);
  return choices.toString().replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("+", "%20");
}

/// Reads a link. Unknown questions and keys, and values of another kind, are skipped and listed in `unread`.
export function decodeLink(hash, fieldsOf) {
  const choices = new URLSearchParams(hash.replace(/^#/, ""));
  const question = choices.get("q");
  const fields = fieldsOf(question);
  const unread = [];
  if (!fields) return { question: null, values: {}, unread: question === null ? [] : [`q=${question}`] };
  const values = { changed: {} };
  for (const [key, text] of choices) {
    const field = fields.find((one) => one.key === key);
    if (key === "q") continue;
    if (key.startsWith("set:/")) values.changed[key.slice("set:".length)] = text;
    else if (field && isReadable(field, text)) values[key] = field.kind === "set" ? text.split(kBetween).filter(Boolean) : text;
    else unread.push(`${key}=${text}`);
  }
  return { question, values, unread };
}

/// True if a field accepts this text of a link. Quantities are left to the simulator, which explains their errors.
function isReadable(field, text) {
  const isOffered = (one) => field.options.some(({ value }) => value === one);
  if (field.kind === "choice") return isOffered(text);
  if (field.kind === "set") return text.split(kBetween).filter(Boolean).every(isOffered);
  return text.length <= 200;
}

export function sameValue(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}
