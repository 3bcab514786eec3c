// "My tensor": errors of its quantization, and of an AllReduce over it.

import { Facts, Notes, ProblemNote, Progress, Rows, TakeAlong, Verdict } from "./answer.js";
import { Chart } from "./chart.js";
import { Controls, FileDrop } from "./controls.js";
import { decibelText } from "./figures.js";
import { fileProblem, innerPath, kFileKinds } from "./files.js";
import { formatsField } from "./formats.js";
import { html, useEffect, useState } from "./libraries.js";

const kWithGroups = ["int8", "int4", "fp8-e4m3", "fp8-e5m2"];  // the size of their groups is free
const kRanks = [2, 4, 8, 16];

export function tensorFields() {
  return [
    formatsField(["int8", "fp8-e4m3", "mxfp8-e4m3", "int4", "mxfp4"], "Formats in which the tensor is quantized, once."),
    { key: "elements-per-scale", label: "Elements per scale", kind: "size-of-group", standard: "128", options: [], least: 1,
      description: "Elements that share a scale, in the formats where it is free (int8, int4, fp8): fewer are more accurate, and larger." },
    { key: "tensor", label: "Tensor in the file", kind: "text", standard: "", options: [], isOptional: true,
      description: "Name in a .safetensors file; not needed if it has one tensor." },
    { key: "ranks", label: "AllReduce over the first axis", kind: "choice", standard: "",
      options: [{ value: "", label: "no" }, ...kRanks.map((count) => ({ value: String(count), label: `${count} chips` }))],
      description: "If the first axis has one tensor for each chip: the error of their sum, with all casts and hops." },
  ];
}

const isGrouped = (format) => kWithGroups.includes(format);

export function quantizeWords(path, format, values) {
  const groups = isGrouped(format) ? ["--elements-per-scale", values["elements-per-scale"]] : [];
  const name = values.tensor.trim() ? ["--tensor", values.tensor.trim()] : [];
  return ["quantize", path, "--format", format, ...groups, ...name];
}

/// Lines of a table, "  SQNR        40.94 dB" -> { SQNR: "40.94 dB" }.
export function tableLines(text) {
  const lines = text.split("\n").map((line) => /^\s+(\S.*?)\s{2,}(\S.*)$/.exec(line)).filter(Boolean);
  return Object.fromEntries(lines.map(([, name, value]) => [name, value]));
}

function sumConfig(path, values) {
  const name = values.tensor.trim();
  const formats = values.formats.map((format) => ({
    label: format, algorithm: "equarx", format, ...(isGrouped(format) ? { elements_per_scale: Number(values["elements-per-scale"]) } : {}) }));
  return {
    hardware: "tpu-v5e", topology: { ring: Number(values.ranks) },
    tensor: { values: { files: [path], ...(name ? { tensor: name } : {}) } },
    collectives: [{ label: "plain", algorithm: "ring" }, ...formats], baseline: "plain",
  };
}

function stagesOf(file, values) {
  const path = innerPath(file.name);
  const files = () => ({ [path]: file });
  const each = values.formats.map((format) => ({
    name: format, title: `Quantizing to ${format}`, files, command: () => quantizeWords(path, format, values),
    read: ({ stdout }) => tableLines(stdout) }));
  const sum = { name: "sum", title: "Summing over the chips", command: () => ["run", "/in/sum.json", "--json"],
    read: ({ stdout }) => JSON.parse(stdout),
    files: () => ({ [path]: file, "/in/sum.json": JSON.stringify(sumConfig(path, values)) }) };
  return values.ranks ? [...each, sum] : each;
}

const numberOf = (text) => Number.parseFloat(text ?? "");
const sqnrOf = (lines) => numberOf(lines.SQNR);

function TensorVerdict({ results, formats }) {
  const bits = (format) => results[format]["bits per element"];
  const ranked = [...formats].sort((a, b) => sqnrOf(results[b]) - sqnrOf(results[a]));
  const smallest = formats.filter((format) => sqnrOf(results[format]) >= 30)
    .sort((a, b) => numberOf(bits(a)) - numberOf(bits(b)))[0];
  if (!Number.isFinite(sqnrOf(results[ranked[0]]))) return html`<${Verdict} kind="plain" word="Exact"><p>No format changes this tensor.</p><//>`;
  return html`<${Verdict} kind=${smallest ? "yes" : "no"} word=${smallest ?? "None"}>
    <p>${smallest ? html`<b>${smallest}</b> has the fewest bits, ${bits(smallest)} per element with scales, of the formats with an
      SQNR of at least 30 dB: ${results[smallest].SQNR}.` : "No chosen format reaches an SQNR of 30 dB."}</p>
    <p>Most accurate: ${ranked[0]}, ${results[ranked[0]].SQNR}.</p><//>`;
}

const kColumns = ["bits per element", "SQNR", "NMSE", "max abs error", "bias (mean error)", "cosine similarity", "clipped", "flushed to zero"];

function TensorTable({ results, formats }) {
  return html`<${Rows} caption="Errors by format" headings=${["format", ...kColumns]} numeric=${kColumns.map((_, i) => i + 1)}
    rows=${formats.map((format) => [format, ...kColumns.map((name) => results[format][name] ?? "–")])} />
    <p class="hint">SQNR: signal to quantization noise ratio; 10 dB more is a tenth of the squared error. NMSE: squared error over squared signal.
      Clipped: beyond the largest value of the format. Flushed to zero: nonzero elements that become 0.</p>`;
}

function ErrorChart({ results, formats }) {
  const pointOf = (lines) => [numberOf(lines["bits per element"]), sqnrOf(lines)];
  const series = formats.map((format) => ({ name: format, isMark: true, isLarge: true, points: [pointOf(results[format])] }))
    .filter(({ points }) => points[0].every(Number.isFinite));
  if (series.length === 0) return null;
  return html`<${Chart} title="Accuracy by size" x=${{ label: "bits per element, with scales" }} y=${{ label: "SQNR (dB)" }}
    level=${30} series=${series} description="Up and to the left is better. The dashed line is 30 dB, about the error of int8 over a hundred chips." />`;
}

function sumRow({ label, numerics }) {
  return [label, decibelText(numerics?.sqnr_db), ...[numerics?.nmse, numerics?.max_abs_error].map((error) => error?.toPrecision(3) ?? "–")];
}

function SumTable({ sum, values }) {
  return html`<h3>AllReduce over ${values.ranks} chips</h3><${Rows} caption="Errors of the sum" numeric=${[1, 2, 3]}
    headings=${["format", "SQNR", "NMSE", "largest error"]} rows=${sum.runs.map(sumRow)} />`;
}

/// Slider for the setting that the error depends on most.
function GroupSlider({ values, onInput }) {
  const power = Math.log2(Number(values["elements-per-scale"])) || 7;
  return html`<h3>Most sensitive to</h3><div class="parameter">
    <label for="tensor-groups">elements per scale <b>${values["elements-per-scale"]}</b></label>
    <input id="tensor-groups" type="range" class="slider" min="4" max="12" step="1" value=${power} aria-valuetext=${values["elements-per-scale"]}
      onInput=${(event) => onInput(String(2 ** Number(event.target.value)))} />
    <p class="hint">Of int8, int4 and fp8. One outlier raises the scale, and with it the error, of all elements that share it.</p></div>`;
}

export function TensorQuestion({ known, fields, values, setValues, state, asking }) {
  const [file, setFile] = useState(null);
  const [fileText, setFileText] = useState("");
  const take = async (given, count = 1) => {
    const problem = await fileProblem("tensor", given);
    setFileText(problem || (count > 1 ? `Only the first of ${count} files is used.` : ""));
    if (!problem) setFile(given);
  };
  const example = () => take(new File([Uint8Array.from(atob(known.examples.tensor), (letter) => letter.charCodeAt(0))], "layer0_keys.npy"));
  const ask = () => { if (file && values.formats.length) asking.ask(stagesOf(file, values)); };
  useEffect(ask, [file, JSON.stringify(values)]);
  const isComplete = !state.isStale && values.formats.every((format) => state.results[format]);
  const results = isComplete ? state.results : state.before;  // no half answers
  const ready = values.formats.filter((format) => results[format]);
  const first = results[ready[0]];
  const input = (field, value) => setValues({ ...values, [field.key]: value }, field.key);
  const path = file && innerPath(file.name);
  return html`<div class="columns">
    <form class="panel" onSubmit=${(event) => event.preventDefault()} aria-label="The tensor">
      <${FileDrop} id="tensor-file" label="Tensor" accept=${kFileKinds.tensor.accept} name=${file?.name} problem=${fileText}
        onFile=${take} onExample=${example} exampleLabel="Use an example"
        hint="Drop a .npy or .safetensors file here (FP32, FP16, BF16). It stays in this page." />
      <${Controls} form="tensor" ...${{ fields, values }} onInput=${input} /></form>
    <div class="answer ${isComplete ? "" : "stale"}" aria-busy=${state.status === "running"}>
      ${!file && html`<p class="empty">How large is the error if your tensor is quantized, and which format is small enough and accurate enough?
        Drop a file, or use the example: keys of an attention layer.</p>`}
      <${ProblemNote} problem=${state.problem} />
      ${!state.problem && ready.length > 0 && html`<${TensorVerdict} results=${results} formats=${ready} />`}
      <${Progress} state=${state} onCancel=${() => asking.cancel()} onAgain=${ask} />
      ${!state.problem && first && html`<${Facts} lines=${[["Elements", first.elements], ["NaN or infinite", first["NaN or Inf"]]]} />
        <${TensorTable} results=${results} formats=${ready} />
        ${results.sum && html`<${SumTable} sum=${results.sum} values=${values} />`}
        <${GroupSlider} values=${values} onInput=${(text) => setValues({ ...values, "elements-per-scale": text }, "elements-per-scale")} />
        <div class="pictures"><${ErrorChart} results=${results} formats=${ready} /></div>`}
      ${file && html`<${TakeAlong} id="tensor-command" words=${quantizeWords(path, values.formats[0] ?? "int8", values)}
        needs="The link holds the settings, not the tensor: it never leaves this page." />`}
      <${Notes} notes=${state.notes} />
    </div></div>`;
}
