// "My HLO program": a compiled program of XLA.

import { Facts, Notes, ProblemNote, Progress, Rows, TakeAlong, Verdict } from "./answer.js";
import { Controls, FileDrop } from "./controls.js";
import { schemaAt } from "./fields.js";
import { countText, percentText, sizeText, speedupText, timeText } from "./figures.js";
import { fileProblem, innerPath, kFileKinds } from "./files.js";
import { formatsField } from "./formats.js";
import { html, useEffect, useState } from "./libraries.js";
import { changedChip, chipField, machineField, machinesFor, parametersAt } from "./machines.js";
import { Findings, GroupAdvice, OnDemand } from "./program_details.js";
import { Sensitivities, shownParameters } from "./sensitivity.js";
import { Bars } from "./views.js";

export function programFields(known) {
  return [
    chipField(known, schemaAt(known.schemas.experiment, "/hardware").description),
    { ...machineField(known, "4x4"), description: "The chips that the program was compiled for: as many as its devices." },
    { ...formatsField(["int8"], "One column each: all collectives of the program in this format."), label: "Formats to compare" },
    { key: "mesh", label: "Mesh axes of the program", kind: "text", standard: "", options: [], isOptional: true, further: true,
      description: "Names and lengths, slowest first, such as data=4,model=4. Empty: from the groups of its collectives." },
    { key: "min-sqnr", label: "Least accuracy (SQNR)", kind: "text", standard: "30 dB", options: [], further: true,
      description: "For the decision on each collective: signal to quantization noise ratio of its result." },
  ];
}

/// Commands about the program at `path`, on the chip of `chip` (changedChip).
function wordsOf(path, values, chip) {
  const mesh = values.mesh.trim() ? ["--mesh", values.mesh.trim()] : [];
  const machine = ["--hardware", chip.word, "--topology", values["/topology"], ...mesh, "--formats", values.formats.join(",")];
  return { imported: ["import", "hlo", path, ...machine], advice: ["advise", path, ...machine, "--min-sqnr", values["min-sqnr"]] };
}

const parsed = ({ stdout }) => JSON.parse(stdout);

function ImportVerdict({ imported }) {
  const [plain, ...others] = imported.variants;
  const best = others.reduce((a, b) => (b.time_s < a.time_s ? b : a), others[0]);
  return html`<${Verdict} kind=${best?.speedup > 1 ? "yes" : "no"} word=${best ? speedupText(best.speedup) : timeText(plain.time_s)}>
    <p>${best ? html`A step with all collectives in <b>${best.label}</b> takes ${timeText(best.time_s)} instead of ${timeText(plain.time_s)}.`
      : html`A step takes ${timeText(plain.time_s)}.`}</p>
    <p>The chips wait for collectives for ${timeText(plain.exposed_s)} of it, ${percentText(plain.exposed_s / plain.time_s)}:
      the most that can be saved.</p><//>`;
}

function ImportFacts({ imported: { module, variants } }) {
  const [plain] = variants;
  const costs = variants.map(({ label, cost_usd: cost }) => (cost === undefined ? "" : `$${cost.toPrecision(3)} ${label}`)).filter(Boolean);
  return html`<${Facts} lines=${[
    ["Program", `${module.name}, ${countText(module.instructions)} instructions for ${countText(module.chips)} chips`],
    ["Collectives", `${sizeText(module.collective_bytes)} per chip and step`],
    ["HBM traffic", `${sizeText(module.hbm_bytes)} per chip and step`],
    ["Compute", timeText(plain.compute_s), "of the step, without quantizing"],
    ["Lower bound", timeText(plain.lower_bound_s), "of the step, by its busiest resource"],
    ["Cost", costs.join(", "), "per step"],
    ["Chip", plain.calibrated ? "calibrated with measurements" : "not calibrated: datasheets and assumptions"],
  ]} />`;
}

const kMostRows = 12;

function ImportTable({ imported }) {
  const labels = imported.variants.map(({ label }) => label);
  const rows = [...imported.collectives].sort((a, b) => b.variants[0].exposed_s - a.variants[0].exposed_s).slice(0, kMostRows);
  const more = imported.collectives.length - rows.length;
  const exposed = (one, label) => {
    const run = one.variants.find((variant) => variant.label === label);
    return run ? timeText(run.exposed_s) : "–";
  };
  return html`<h3>Its collectives, by exposed time</h3>
    <${Rows} caption="Collectives of the program" numeric=${[2, 4, 5, ...labels.map((_, i) => 6 + i)]}
      headings=${["collective", "kind", "size", "type", "chips", "times", ...labels.map((label) => `exposed, ${label}`)]}
      rows=${rows.map((one) => [one.group, one.kind, sizeText(one.bytes), one.type, one.chips, countText(one.times),
        ...labels.map((label) => exposed(one, label))])} />
    <p class="hint">Exposed: time in which the chip waits for the collective, without concurrent compute.${
      more > 0 ? ` ${countText(more)} more are not shown.` : ""}</p>`;
}

const kStepParts = [["compute_s", "compute"], ["exposed_s", "waiting for collectives"]];

/// Slower answers, on demand: the decision for each collective, and the audit.
function Demands({ words, files, dependency, onSensitive }) {
  const advice = { name: "advice", title: "Deciding for each collective", files, command: () => [...words.advice, "--json"],
    read: (answer) => { const result = parsed(answer); onSensitive(result.advice.sensitive_to ?? []); return result; } };
  const audit = { name: "audit", title: "Auditing", files, command: () => [...words.imported, "--audit", "--json"],
    read: (answer) => parsed(answer).audit };
  return html`<${OnDemand} dependency=${dependency} label="Decide for each collective" stage=${advice}
      hint="with error, interval and sensitivity; up to a minute" shown=${({ advice: result }) => html`<${GroupAdvice} advice=${result.advice} />`} />
    <${OnDemand} dependency=${dependency} label="Audit the program" stage=${audit}
      hint="finds collectives that move too much, round too often, or hold up the chip"
      shown=${({ audit: result }) => html`<${Findings} audit=${result} />`} />`;
}

/// Everything below the verdict, for the last imported program.
function ImportParts({ known, imported, values, setValues, isOld, children }) {
  const [sensitive, setSensitive] = useState([]);
  const chip = known.chips.find(({ name }) => name === values["/hardware"]);
  const own = values.changed ?? {};
  const slide = (name, text) => setValues({ ...values, changed: { ...own, [`/hardware/${name}`]: text } }, name);
  const names = shownParameters(own, [...sensitive, { parameter: "link_bandwidth" }]);
  const runs = imported.variants.map((run) => ({ ...run, parts: run }));
  const notes = { link_bandwidth: "Faster links leave less to save." };
  return html`<div class=${isOld ? "old" : ""}><${ImportFacts} imported=${imported} /><${ImportTable} imported=${imported} />
      <div class="pictures"><${Bars} title="Where the time of a step goes" runs=${runs} parts=${kStepParts} /></div></div>
    <h3>Most sensitive to</h3><${Sensitivities} form="program" ...${{ names, chip, sensitive, notes }} changed=${own}
      limits=${(name) => known.limits[name]} onInput=${slide} />${children(setSensitive)}`;
}

export function ProgramQuestion({ known, fields, values, setValues, state, asking }) {
  const [file, setFile] = useState(null);
  const [fileText, setFileText] = useState("");
  const chip = known.chips.find(({ name }) => name === values["/hardware"]);
  const shown = fields.map((field) => (field.key === "/topology" ? machinesFor(field, chip) : field));
  const changed = changedChip(chip.name, parametersAt(values.changed));
  const words = file && wordsOf(innerPath(file.name), values, changed);
  const files = () => ({ [innerPath(file.name)]: file, ...changed.files });
  const take = async (given) => {
    const problem = await fileProblem("program", given);
    setFileText(problem);
    if (!problem) setFile(given);
  };
  const example = () => take(new File([known.examples.program], "transformer_v5e_4x4.hlo.txt"));
  const ask = () => {
    if (file && values.formats.length)
      asking.ask([{ name: "imported", title: "Reading and simulating the program", files, read: parsed,
        command: () => [...words.imported, "--json"] }]);
  };
  useEffect(ask, [file, JSON.stringify(values)]);
  const { imported } = state.results;
  const input = (field, value) =>
    setValues({ ...values, [field.key]: value, ...(field.key === "/hardware" ? { changed: {} } : {}) }, field.key);
  const demands = (onSensitive) => html`<${Demands} ...${{ words, files, onSensitive }} dependency=${JSON.stringify([file?.name, values])} />`;
  return html`<div class="columns">
    <form class="panel" onSubmit=${(event) => event.preventDefault()} aria-label="The program">
      <${FileDrop} id="program-file" label="Program" accept=${kFileKinds.program.accept} name=${file?.name} problem=${fileText} onFile=${take}
        onExample=${example} exampleLabel="Use an example"
        hint="Drop the text of a compiled program here: jax.jit(f).lower(x).compile().as_text(). It stays in this page." />
      <${Controls} form="program" fields=${shown} values=${values} onInput=${input} /></form>
    <div class="answer ${state.isStale ? "stale" : ""}" aria-busy=${state.status === "running"}>
      ${!file && html`<p class="empty">How long does a step of your program take, how much of it waits for collectives, and how much would
        quantizing them save? Drop the program, or use the example: 32 layers of a transformer on 16 chips.</p>`}
      <${ProblemNote} problem=${state.problem} />
      ${!state.problem && imported && html`<${ImportVerdict} imported=${imported} />`}
      <${Progress} state=${state} onCancel=${() => asking.cancel()} onAgain=${ask} />
      ${imported && html`<${ImportParts} ...${{ known, imported, values, setValues }} isOld=${state.isStale || Boolean(state.problem)}>${demands}<//>`}
      ${file && html`<${TakeAlong} id="program-command" words=${words.advice} files=${changed.files}
        needs="The link holds the settings, not the program: it never leaves this page." />`}
      <${Notes} notes=${state.notes} />
    </div></div>`;
}
