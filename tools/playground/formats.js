// Formats that the questions offer, with their meaning in a few words.

const kFormats = [
  ["int8", "8-bit integers, with a scale in FP32 for each group of elements"],
  ["fp8-e4m3", "8-bit floating point: 4 bits of exponent, 3 of mantissa"],
  ["fp8-e5m2", "8-bit floating point: 5 bits of exponent, 2 of mantissa"],
  ["mxfp8-e4m3", "8-bit floating point in blocks of 32 that share a power of two (OCP MX)"],
  ["int4", "4-bit integers, with a scale in FP32 for each group of elements"],
  ["mxfp4", "4-bit floating point in blocks of 32 that share a power of two (OCP MX)"],
  ["nvfp4", "4-bit floating point in blocks of 16 with a scale in FP8 (NVIDIA)"],
];

/// A field to choose from these formats.
export function formatsField(standard, description) {
  const options = kFormats.map(([value, about]) => ({ value, label: value, about }));
  return { key: "formats", label: "Formats to consider", kind: "set", options, standard, description };
}
