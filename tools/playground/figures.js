// Figures of the simulator as text, with units and four digits.

const kScales = {
  time: [["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9]],
  bytes: [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10], ["B", 1]],
};

const kThousands = new Intl.NumberFormat("en");

/// A number with `digits` significant digits, without an exponent in the usual range.
export function numberText(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "unknown";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-4 || size >= 1e7) return value.toExponential(digits - 1);
  return size >= 1000 && digits <= 4 ? kThousands.format(Math.round(value)) : value.toPrecision(digits);
}

function scaled(kind, value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "unknown";
  const [unit, size] = kScales[kind].find(([, one]) => Math.abs(value) >= one) ?? kScales[kind].at(-1);
  return `${numberText(value / size)} ${unit}`;
}

export const timeText = (seconds) => (seconds === 0 ? "0 s" : scaled("time", seconds));
export const sizeText = (bytes) => (bytes === 0 ? "0 B" : scaled("bytes", bytes).replace(/\.0+(?= )/, ""));
export const speedupText = (ratio) => (Number.isFinite(ratio ?? NaN) ? `${ratio.toFixed(2)}x` : "unknown");
export const decibelText = (decibels) => (Number.isFinite(decibels ?? NaN) ? `${decibels.toFixed(1)} dB` : "exact");
export const percentText = (share) => (Number.isFinite(share ?? NaN) ? `${numberText(100 * share, 3)} %` : "unknown");
export const dollarText = (dollars) => (Number.isFinite(dollars ?? NaN) ? `$${dollars.toPrecision(3)}` : "no price known");
export const countText = (count) => kThousands.format(count);

/// "1.85x to 1.91x"
export function rangeText(low, high, text) {
  return `${text(low)} to ${text(high)}`;
}

/// A quantity in text, such as "45 GB/s" or 0.97, times a factor, in its own unit. The simulator reads it back.
export function multiplied(quantity, factor, most = Infinity) {
  const [, number, unit] = /^\$?([-+.\deE]+)\s*(.*)$/.exec(String(quantity)) ?? [];
  if (number === undefined) return null;
  const product = Number(Math.min(Number(number) * factor, most).toPrecision(4));
  const sign = String(quantity).startsWith("$") ? "$" : "";
  return unit ? `${sign}${product}${unit.startsWith("/") ? "" : " "}${unit}` : String(product);
}

/// Name of a chip parameter in words: "link_bandwidth" -> "link bandwidth", "hbm_efficiency" -> "HBM efficiency".
export function parameterName(key) {
  return key.replaceAll("_", " ").replace(/\b(hbm|dma|vmem)\b/g, (word) => word.toUpperCase());
}

const kSizes = ["KiB", "MiB", "GiB"];

/// Power of two of a size in text, such as 25 for "32 MiB"; null for other texts.
export function powerOf(text) {
  const [, number, unit] = /^\s*([\d.]+)\s*([KMG]iB)\s*$/.exec(text) ?? [];
  return number > 0 ? Math.round(Math.log2(Number(number)) + 10 * (kSizes.indexOf(unit) + 1)) : null;
}

/// Size of a power of two in text: 25 -> "32 MiB".
export function sizeOfPower(power) {
  const unit = Math.min(Math.floor(power / 10), 3);
  return `${2 ** (power - 10 * unit)} ${kSizes[unit - 1]}`;
}
