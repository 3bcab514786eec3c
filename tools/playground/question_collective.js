// "Shall I quantize this AllReduce?"

import { Facts, Notes, ProblemNote, Progress, TakeAlong, Verdict } from "./answer.js";
import { Chart } from "./chart.js";
import { Controls } from "./controls.js";
import { needsMemory } from "./failures.js";
import { fieldOf, fieldsBelow, jsonValue, schemaAt, setAt } from "./fields.js";
import {
  countText, decibelText, parameterName, percentText, powerOf, rangeText, sizeText, speedupText, timeText,
} from "./figures.js";
import { formatsField } from "./formats.js";
import { html, useEffect, useMemo } from "./libraries.js";
import { chipField, machineField, machinesFor, topologyOf } from "./machines.js";
import { Sensitivities, shownParameters } from "./sensitivity.js";
import { Breakdown, MachinePicture, machineStages } from "./views.js";

const kFile = "/in/question.json";

export function collectiveFields(known) {
  const { experiment } = known.schemas;
  const further = fieldsBelow(experiment, "/tensor/values", ["tensor"])
    .concat(["/timed_as", "/wire_buffers", "/uncertainty/samples"].map((key) => fieldOf(experiment, key)))
    .concat([fieldOf(experiment, "/tensor/sample", { label: "Share of the values computed", standard: "", isOptional: true,
      description: "Share of the tensor on which errors are computed. Empty: about 2 MiB on each chip. Times are always of the whole tensor." })])
    .map((field) => ({ ...field, further: true }));
  return [
    fieldOf(experiment, "/collective", { label: "Collective",
      description: "An AllReduce gives every chip the sum of all chips' tensors; the others move or sum parts." }),
    chipField(known, schemaAt(experiment, "/hardware").description),
    machineField(known, "2x4"),
    fieldOf(experiment, "/tensor/bytes", { label: "Tensor on each chip", kind: "size", standard: "32 MiB" }),
    fieldOf(experiment, "/tensor/dtype", { label: "Type of its elements" }),
    formatsField(["int8", "fp8-e4m3"], "Formats in which the tensor may travel; the fastest within the error limit wins."),
    { key: "min-sqnr", label: "Least accuracy (SQNR)", kind: "text", standard: "30 dB", options: [],
      description: "Signal to quantization noise ratio of the result: 10 dB more is a tenth of the squared error. " +
        "30 dB is about the error of int8 over a hundred chips." },
    ...further,
  ];
}

const kSampledPower = 21;  // 2 MiB on each chip
const kLeastSample = 1 / 64;

/// Share of a tensor whose values are computed unless given: errors of larger samples differ little, but take longer.
export function standardSample(size) {
  const power = powerOf(size);
  return power === null || power <= kSampledPower ? 1 : Math.max(2 ** (kSampledPower - power), kLeastSample);
}

/// True if a configuration has the key of a field: further ones only with other than standard values.
const isWritten = (field, value) => value !== "" && (!field.further || value !== field.standard);

/// Configuration of the question: the plain collective, and one in each format.
export function collectiveConfig(fields, values) {
  const config = { hardware: values["/hardware"], topology: topologyOf(values["/topology"]) };
  for (const field of fields.filter(({ key }) => key.startsWith("/") && !["/hardware", "/topology"].includes(key)))
    if (isWritten(field, values[field.key])) setAt(config, field.key, jsonValue(field, values[field.key]));
  const sample = standardSample(values["/tensor/bytes"]);
  if (values["/tensor/sample"] === "" && sample < 1) config.tensor.sample = sample;
  const plain = values["/tensor/dtype"];
  config.collectives = [plain, ...values.formats].map((format) => ({ label: format, algorithm: "auto", format }));
  config.baseline = plain;
  return config;
}

const changes = (values) => Object.entries(values.changed ?? {}).flatMap(([key, value]) => ["--set", `${key}=${value}`]);

export function adviceWords(values) {
  return ["advise", kFile, "--formats", values.formats.join(","), "--min-sqnr", values["min-sqnr"], ...changes(values)];
}

const parsed = ({ stdout }) => JSON.parse(stdout);

function stagesOf(config, values) {
  const files = () => ({ [kFile]: JSON.stringify(config) });
  return [
    { name: "quick", title: "Timing", files, read: parsed, command: () => ["run", kFile, "--json", "--set", "/numerics=off", ...changes(values)] },
    { name: "advice", isSlow: true, title: "Searching the fastest within the error limit", files, read: parsed,
      canFail: ({ message }) => needsMemory(message), command: () => [...adviceWords(values), "--json"] },
    { name: "timed", title: "Finding the interval", files, read: parsed, isNeeded: ({ advice }) => !advice,
      command: () => ["run", kFile, "--json", "--uncertainty", "--set", "/numerics=off", ...changes(values)] },
    ...machineStages(config, changes(values)),
  ];
}

/// The fastest run in a format, compared with the plain one, before the advice is there, or without one.
function QuickVerdict({ quick, isLast }) {
  const [plain, ...others] = quick.runs;
  const best = others.reduce((a, b) => (b.time_s < a.time_s ? b : a), others[0]);
  return html`<${Verdict} kind="plain" word="${speedupText(best.speedup)}">
    <p>In <b>${best.label}</b> it takes ${timeText(best.time_s)} instead of ${timeText(plain.time_s)} in ${plain.label}, before fine-tuning.</p>
    <p>${best.uncertainty ? `68 % interval of the speedup ${intervalText(best.uncertainty)}.` : ""}
      ${isLast ? "" : "The interval and the error follow…"}</p><//>`;
}

const kWords = { yes: "Yes", no: "No", unclear: "Unclear" };

function reasonOf({ quantize, quantized, nearest, plain, broken }) {
  if (broken) return `The promise “${broken.promise}” would be broken.`;
  if (!quantized && nearest) return `The most accurate candidate, ${nearest.label}, has an SQNR of ${decibelText(nearest.sqnr_db)}.`;
  if (!quantized) return "No candidate in these formats is within the limits.";
  const times = html`it takes <b>${timeText(quantized.time_s)}</b> instead of ${timeText(plain.time_s)} in ${plain.collective.format}`;
  if (quantize === "yes") return html`In <b>${quantized.collective.format}</b> ${times}.`;
  if (quantize === "no") return html`In ${quantized.collective.format}, the fastest format, ${times}.`;
  return html`In ${quantized.collective.format} ${times}, but the interval of the speedup contains 1x.`;
}

function AdviceVerdict({ advice }) {
  const { uncertainty, speedup } = advice;
  return html`<${Verdict} kind=${advice.quantize} word=${kWords[advice.quantize] ?? advice.quantize}>
    <p>${reasonOf(advice)}</p>
    ${speedup && html`<p>Speedup <b>${speedupText(speedup)}</b>${uncertainty && html`, 68 % interval${" "}
      ${rangeText(uncertainty.speedup_low, uncertainty.speedup_high, speedupText)}`}</p>`}<//>`;
}

function errorLine({ quantized, nearest, plain, limits }) {
  const shown = quantized ?? nearest;
  if (!shown) return "";
  return `SQNR ${decibelText(shown.sqnr_db)} instead of ${decibelText(plain.sqnr_db)}` + (limits.max_nmse ? "" : "; no limit");
}

function breakEvenLine({ pays_from_bytes: bytes, sizes }) {
  if (sizes.length === 0) return "";
  if (bytes === null) return `never, up to ${sizeText(sizes.at(-1).tensor_bytes)}`;
  return bytes === sizes[0].tensor_bytes ? `${sizeText(bytes)} or below` : sizeText(bytes);
}

function evidenceText(evidence) {
  if (!evidence) return "";
  if (evidence.spread === null) return "unknown: too few measured rows";
  return `${percentText(evidence.spread)} from ${evidence.rows} measured rows of ${evidence.origins} origins`;
}

const intervalText = ({ speedup_low: low, speedup_high: high }) => rangeText(low, high, speedupText);
const scalesText = ({ elements_per_scale: count }) => (count ? `${count} elements per scale` : "scales of the format");

function AdviceFacts({ advice, quick, values }) {
  const { plain, quantized, uncertainty, sensitive_to: sensitive } = advice;
  return html`<${Facts} lines=${[
    ["Plain", `${timeText(plain.time_s)} in ${plain.collective.format}`, `algorithm ${plain.label}`],
    ["Quantized", quantized && `${timeText(quantized.time_s)} in ${quantized.collective.format}`,
      quantized && `algorithm ${quantized.label}, ${scalesText(quantized.collective)}`],
    ["68 % interval", uncertainty && `${intervalText(uncertainty)} around ${speedupText(advice.speedup)}`,
      uncertainty && `(${uncertainty.samples} machines drawn from the uncertainty of the chip's parameters)`],
    ["Error", errorLine(advice), `(limit ${values["min-sqnr"]})`],
    ["Pays from", breakEvenLine(advice), "on each chip, each size with its best tiling"],
    ["Most sensitive to", sensitive.map(({ parameter }) => parameterName(parameter)).join(", ") || "no single parameter of the chip"],
    ["To settle it", advice.quantize === "unclear" && advice.to_settle && `measure ${advice.to_settle.replace(/^\w+/, parameterName)}`],
    ["Chip", advice.calibrated ? "calibrated with measurements" : "not calibrated: datasheets and assumptions"],
    ["Model error", evidenceText(quick.evidence), "for times of such collectives"],
    ["Compared", `${countText(advice.candidates)} candidates${advice.not_tried ? `, ${countText(advice.not_tried)} not tried` : ""}`],
  ]} />`;
}

function SizesChart({ advice }) {
  const points = advice.sizes.map(({ tensor_bytes: bytes, speedup }) => [bytes, speedup]);
  const [first, last] = [points[0], points.at(-1)].map(([bytes, speedup]) => `${speedupText(speedup)} at ${sizeText(bytes)}`);
  const ends = `From ${first} to ${last}`;
  return html`<${Chart} title="Speedup by tensor size" level=${1}
    x=${{ label: "tensor on each chip", isLog: true, isBytes: true }} y=${{ label: "speedup", text: (value) => `${tickLabel(value)}x` }}
    series=${[{ name: "quantized", points }]}
    description=${`${ends}. Below the dashed line, quantizing is slower.`} />`;
}

/// The parts below the verdict. Until there is an advice on the newest settings, the last one is shown as old.
function AdviceParts({ known, chip, values, setValues, before, isOld }) {
  const { advice, quick } = before;
  const changed = values.changed ?? {};
  const slide = (name, text) => setValues({ ...values, changed: { ...changed, [`/hardware/${name}`]: text } }, name);
  const reset = () => setValues({ ...values, changed: {} }, "reset");
  const old = isOld ? "old" : "";
  return html`<div class=${old}><${AdviceFacts} ...${{ advice, quick, values }} /></div>
    <h3>Most sensitive to</h3>
    <${Sensitivities} form="collective" names=${shownParameters(changed, advice.sensitive_to)} chip=${chip} changed=${changed}
      sensitive=${isOld ? [] : advice.sensitive_to} limits=${(name) => known.limits[name]} onInput=${slide} />
    ${Object.keys(changed).length > 0 && html`<p class="buttons"><button type="button" onClick=${reset}>Back to the chip as built</button></p>`}
    <div class="pictures ${old}"><${SizesChart} advice=${advice} /><${Breakdown} compared=${before.compared} /></div>
    ${before.picture && before.compared && html`<div class=${old}>
      <${MachinePicture} compared=${before.compared} picture=${before.picture} /></div>`}`;
}

/// The answer without errors, for machines whose values do not fit into the memory of a page.
function TimedParts({ results: { quick, timed, adviceProblem, compared, picture } }) {
  return html`<${QuickVerdict} quick=${timed ?? quick} isLast=${true} />
    <p class="note" role="alert">This is the time alone: errors, and with them the decision, need more memory than a page has. The program equarx-sim
      computes them, or this page for a smaller machine or tensor. (${adviceProblem.message})</p>
    <div class="pictures"><${Breakdown} compared=${compared} /></div>
    ${compared && picture && html`<${MachinePicture} compared=${compared} picture=${picture} />`}`;
}

export function CollectiveQuestion({ known, fields, values, setValues, state, asking }) {
  const { results, before, problem } = state;
  const chip = known.chips.find(({ name }) => name === values["/hardware"]);
  const shown = fields.map((field) => (field.key === "/topology" ? machinesFor(field, chip) : field));
  const config = useMemo(() => collectiveConfig(fields, values), [JSON.stringify(values)]);
  const ask = () => { if (values.formats.length) asking.ask(stagesOf(config, values)); };
  useEffect(ask, [JSON.stringify(values)]);
  const input = (field, value) =>
    setValues({ ...values, [field.key]: value, ...(field.key === "/hardware" ? { changed: {} } : {}) }, field.key);
  const problems = problem?.key ? { [problem.key]: problem.message } : {};
  const isOld = !results.advice || state.isStale;
  return html`<div class="columns">
    <form class="panel" onSubmit=${(event) => event.preventDefault()} aria-label="The collective">
      <${Controls} form="collective" fields=${shown} ...${{ values, problems }} onInput=${input} /></form>
    <div class="answer ${state.isStale ? "stale" : ""}" aria-busy=${state.status === "running"}>
      <${ProblemNote} problem=${problem} />
      ${!problem && results.advice && html`<${AdviceVerdict} advice=${results.advice} />`}
      ${!problem && !results.advice && !results.adviceProblem && results.quick && html`<${QuickVerdict} quick=${results.quick} />`}
      ${!problem && results.adviceProblem && html`<${TimedParts} results=${results} />`}
      ${!results.quick && ["idle", "running"].includes(state.status) && html`<p class="hint" role="status">Starting the simulator…</p>`}
      <${Progress} state=${state} onCancel=${() => asking.cancel()} onAgain=${ask} />
      ${before.advice && html`<${AdviceParts} ...${{ known, chip, values, setValues, before, isOld }} />`}
      <${TakeAlong} id="collective-command" words=${adviceWords(values)} config=${config} />
      <${Notes} notes=${state.notes} />
    </div></div>`;
}
