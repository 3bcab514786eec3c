// Failures of the simulator in words: lack of memory, or a defect.

const kNoMemory = "The simulator ran out of the memory that the browser gives to a page. A smaller file, tensor or machine fits; " +
  "the program equarx-sim has no such limit.";

export const isNoMemory = (reason) => /memory arrays|out of memory|bad_alloc|allocation failed|invalid array length|RangeError/i.test(reason);

/// True if the simulator refuses a run because its values need more memory than there is.
export const needsMemory = (message) => /needs .* of memory|ran out of the memory/.test(message);

/// Text for a failure with this reason of the browser.
export function failureText(reason) {
  if (isNoMemory(reason)) return `${kNoMemory} (${reason})`;
  return `The simulator stopped, which is a defect of it; the next question starts it anew. (${reason})`;
}
