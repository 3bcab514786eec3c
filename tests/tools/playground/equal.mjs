// Results as JSON: values equal in every bit, times to 1e-12.

export const kTimeTolerance = 1e-12;

// Keys of parts that describe the program and its clock, not the result.
const kIgnored = new Set(["version", "config_hash", "engine", "engine_reason", "host", "wall_s"]);
// Keys of errors, values and counts: exact.
const kExact = new Set(["numerics", "errors", "tensors", "error"]);

// Differences of two results, as lines "pointer: a, b"; empty if they are equal.
export function differences(a, b, pointer = "", exact = false) {
  if (Object.is(a, b)) return [];
  if (typeof a === "number" && typeof b === "number") {
    const error = Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b));
    return !exact && error <= kTimeTolerance ? [] : [`${pointer}: ${a}, ${b} (${error.toExponential(1)})`];
  }
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object" || Array.isArray(a) !== Array.isArray(b))
    return [`${pointer}: ${JSON.stringify(a)}, ${JSON.stringify(b)}`];
  const found = [];
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (kIgnored.has(key)) continue;
    for (const each of differences(a[key] ?? null, b[key] ?? null, `${pointer}/${key}`, exact || kExact.has(key)))
      found.push(each);
  }
  return found;
}
