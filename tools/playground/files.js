// Files of the user: checked by size and by their first bytes, before they are read.

const kMebi = 2 ** 20;

/// Kinds of files, with the largest size that the page reads: the simulator holds a file and its figures in memory.
export const kFileKinds = {
  program: { most: 256 * kMebi, accept: ".txt,.hlo", noun: "an HLO program as text" },
  tensor: { most: 512 * kMebi, accept: ".npy,.safetensors", noun: "a .npy or .safetensors file" },
};

const kMebibytes = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/// Problem of a file by its name and size alone, or "".
export function sizeProblem(kind, { name, size }) {
  const { most } = kFileKinds[kind];
  if (size === 0) return `${name} is empty.`;
  if (size <= most) return "";
  const remedy = kind === "program"
    ? "Import it with the program equarx-sim, which reads files of any size, or drop a smaller module."
    : "Quantize it with the program equarx-sim, or drop one tensor of it.";
  return `${name} has ${kMebibytes.format(size / kMebi)} MiB, but this page reads at most ${kMebibytes.format(most / kMebi)} MiB, ` +
    `because it must fit in the browser's memory; nothing was read. ${remedy}`;
}

const startsWith = (bytes, text) => [...text].every((letter, i) => bytes[i] === letter.charCodeAt(0));

function packedProblem(name, bytes) {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return `${name} is compressed with gzip; unpack it first (gunzip).`;
  if (startsWith(bytes, "PK\u0003\u0004")) return `${name} is a ZIP archive (.npz is one, too); unpack it and drop one of its files.`;
  return "";
}

/// Problem of a file by its first bytes, or "".
export function contentProblem(kind, name, bytes) {
  const packed = packedProblem(name, bytes);
  if (packed) return packed;
  const isNpy = startsWith(bytes, "\u0093NUMPY");
  const isSafetensors = bytes[8] === "{".charCodeAt(0) && bytes.slice(4, 8).every((byte) => byte === 0);
  if (kind === "tensor") return isNpy || isSafetensors ? "" : `${name} is neither a .npy nor a .safetensors file, by its first bytes.`;
  if (isNpy || isSafetensors) return `${name} is a tensor; drop it under “My tensor”.`;
  if (bytes.includes(0)) return `${name} is not text. The HLO program is needed as text: compiled.as_text() in JAX.`;
  return "";
}

/// Checks a file, and reads no more than its first bytes. Returns its problem, or "".
export async function fileProblem(kind, file) {
  const bySize = sizeProblem(kind, file);
  if (bySize) return bySize;
  try {
    return contentProblem(kind, file.name, new Uint8Array(await file.slice(0, 4096).arrayBuffer()));
  } catch {
    return `${file.name} cannot be read. Folders cannot be dropped; drop a file.`;
  }
}

/// A name for the file inside the simulator: its messages then name the file as the user does.
export function innerPath(name) {
  return `/in/${name.replace(/[^\w.+-]/g, "_").slice(-100)}`;
}
