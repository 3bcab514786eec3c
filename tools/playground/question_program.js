// "My HLO program": a compiled program of XLA.

import { Facts, Notes, ProblemNote, Progress, Rows, TakeAlong, Verdict } from "./answer.js";
import { Asking } from "./asking.js";
import { Controls, FileDrop } from "./controls.js";
import { schemaAt } from "./fields.js";
import { countText, decibelText, percentText, rangeText, sizeText, speedupText, timeText } from "./figures.js";
import { fileProblem, innerPath, kFileKinds } from "./files.js";
import { formatsField } from "./formats.js";
import { html, useEffect, useMemo, useState } from "./libraries.js";
import { chipField, machineField, machinesFor } from "./machines.js";

export function programFields(known) {
  return [
    chipField(known, schemaAt(known.schemas.experiment, "/hardware").description),
    { ...machineField(known, "4x4"), description: "The chips that the program was compiled for: their number must be that of the program." },
    { ...formatsField(["int8"], "One column each: all collectives of the program in this format."), label: "Formats to compare" },
    { key: "mesh", label: "Mesh axes of the program", kind: "text", standard: "", options: [], isOptional: true, further: true,
      description: "Names and lengths, slowest first, such as data=4,model=4. Empty: from the groups of its collectives." },
    { key: "min-sqnr", label: "Least accuracy (SQNR)", kind: "text", standard: "30 dB", options: [], further: true,
      description: "For the decision by groups: signal to quantization noise ratio of each collective." },
  ];
}

const machineWords = (values) => ["--hardware", values["/hardware"], "--topology", values["/topology"], ...(values.mesh.trim() ? ["--mesh", values.mesh.trim()] : [])];
const importWords = (path, values) => ["import", "hlo", path, ...machineWords(values), "--formats", values.formats.join(",")];
const adviceWords = (path, values) => ["advise", path, ...machineWords(values), "--formats", values.formats.join(","), "--min-sqnr", values["min-sqnr"]];
const parsed = ({ stdout }) => JSON.parse(stdout);

function ImportVerdict({ imported }) {
  const [plain, ...others] = imported.variants;
  const best = others.reduce((a, b) => (b.time_s < a.time_s ? b : a), others[0]);
  const gains = best && best.speedup > 1;
  return html`<${Verdict} kind=${gains ? "yes" : "no"} word=${best ? speedupText(best.speedup) : timeText(plain.time_s)}>
    <p>${best ? html`A step with all collectives in <b>${best.label}</b> takes ${timeText(best.time_s)} instead of ${timeText(plain.time_s)}.`
      : html`A step takes ${timeText(plain.time_s)}.`}</p>
    <p>The chips wait for collectives for ${timeText(plain.exposed_s)} of it, ${percentText(plain.exposed_s / plain.time_s)}: the most that can be saved.</p><//>`;
}

function ImportFacts({ imported: { module, variants } }) {
  return html`<${Facts} lines=${[
    ["Program", `${module.name}, ${countText(module.instructions)} instructions for ${countText(module.chips)} chips`],
    ["Collectives", `${sizeText(module.collective_bytes)} per chip and step`],
    ["HBM traffic", `${sizeText(module.hbm_bytes)} per chip and step`],
    ["Compute", timeText(variants[0].compute_s), "of the step, without quantizing"],
    ["Lower bound", timeText(variants[0].lower_bound_s), "of the step, by its busiest resource"],
    ["Cost", variants[0].cost_usd === undefined ? "" : variants.map(({ label, cost_usd: cost }) => `$${cost.toPrecision(3)} ${label}`).join(", "), "per step"],
    ["Chip", variants[0].calibrated ? "calibrated with measurements" : "not calibrated: datasheets and assumptions"],
  ]} />`;
}

function ImportTable({ imported }) {
  const labels = imported.variants.map(({ label }) => label);
  const rows = [...imported.collectives].sort((a, b) => b.variants[0].exposed_s - a.variants[0].exposed_s).slice(0, 12);
  const more = imported.collectives.length - rows.length;
  return html`<h3>Its collectives, by exposed time</h3>
    <${Rows} caption="Collectives of the program" headings=${["collective", "kind", "size", "type", "chips", "times", ...labels.map((label) => `exposed, ${label}`)]}
      numeric=${[2, 4, 5, ...labels.map((_, i) => 6 + i)]}
      rows=${rows.map((one) => [one.group, one.kind, sizeText(one.bytes), one.type, one.chips, countText(one.times),
        ...labels.map((label) => { const run = one.variants.find((variant) => variant.label === label); return run ? timeText(run.exposed_s) : "–"; })])} />
    <p class="hint">Exposed: time in which the chip waits for the collective, without concurrent compute.${more > 0 ? ` ${more} more are not shown.` : ""}</p>`;
}

const kRules = {
  "wide-type": "moves a wider type than needed", "half-sum": "sums in 16 bits, and rounds at each addition", casts: "moves values that are only cast afterwards",
  "gathered-twice": "gathers the same value again", exposed: "holds up the chip", small: "many small collectives", redundant: "moves nothing that is needed",
};

/// Findings of the audit, largest saving first.
function Findings({ audit }) {
  if (audit.findings.length === 0) return html`<p class="hint" role="status">The audit has no finding.</p>`;
  const saving = ({ saved_s: saved }) => (saved > 0 ? `saves up to ${timeText(saved)} of a step` : saved < 0 ? `the remedy costs ${timeText(-saved)} of a step` : "no saving estimated");
  return html`<h3 role="status">${countText(audit.findings.length)} findings, largest saving first</h3><ol class="findings">${audit.findings.map((one) => html`<li>
    <b>${one.collectives.map(({ group }) => group).join(", ")}</b> ${kRules[one.rule] ?? one.rule}: ${saving(one)}
    <p>${one.why}</p><p>Remedy: ${one.remedy}</p><p class="aside">${one.op_name} ${one.place}</p></li>`)}</ol>`;
}

/// Verdict for every group of collectives, on demand: it may take a minute.
function GroupAdvice({ result }) {
  const { advice } = result;
  return html`<${Verdict} kind=${advice.quantize} word=${{ yes: "Yes", no: "No", unclear: "Unclear" }[advice.quantize]}>
      <p>With the best choice for each group the step is <b>${speedupText(advice.speedup)}</b> as fast${advice.uncertainty &&
        html`, 68 % interval ${rangeText(advice.uncertainty.speedup_low, advice.uncertainty.speedup_high, speedupText)}`}.</p><//>
    <${Rows} caption="Decision for each group of collectives" headings=${["collective", "quantize?", "how", "step", "error (SQNR)", "pays from"]} numeric=${[3, 4, 5]}
      rows=${advice.groups.map((one) => [one.group, one.quantize, one.label ?? one.reason ?? "", one.step_speedup ? speedupText(one.step_speedup) : "–",
        one.sqnr_db === undefined ? "–" : decibelText(one.sqnr_db), one.break_even_bytes ? sizeText(one.break_even_bytes) : "–"])} />`;
}

function OnDemand({ label, hint, engine, makeStage, shown, dependency }) {
  const [state, setState] = useState({ status: "idle", results: {}, notes: [] });
  const asking = useMemo(() => new Asking(engine, setState), [engine]);
  const [asked, setAsked] = useState(null);
  const ask = () => { setAsked(dependency); asking.ask([makeStage()]); };
  const isCurrent = asked === dependency;
  return html`<div class="demand">
    ${!(isCurrent && state.status === "running") && html`<p class="buttons"><button type="button" onClick=${ask}>${label}</button> <span class="hint">${hint}</span></p>`}
    <${Progress} state=${state} onCancel=${() => asking.cancel()} onAgain=${ask} />
    ${isCurrent && html`<${ProblemNote} problem=${state.problem} />`}
    ${isCurrent && state.status === "done" && shown(state.results)}</div>`;
}

export function ProgramQuestion({ known, fields, values, setValues, state, asking, engine }) {
  const [file, setFile] = useState(null);
  const [fileText, setFileText] = useState("");
  const chip = known.chips.find(({ name }) => name === values["/hardware"]);
  const shown = fields.map((field) => (field.key === "/topology" ? machinesFor(field, chip) : field));
  const path = file && innerPath(file.name);
  const files = () => ({ [path]: file });
  const take = async (given) => {
    const problem = await fileProblem("program", given);
    setFileText(problem);
    if (!problem) setFile(given);
  };
  const example = () => take(new File([known.examples.program], "transformer_v5e_4x4.hlo.txt"));
  const ask = () => {
    if (file && values.formats.length)
      asking.ask([{ name: "imported", title: "Reading and simulating the program", files, read: parsed, command: () => [...importWords(path, values), "--json"] }]);
  };
  useEffect(ask, [file, JSON.stringify(values)]);
  const { imported } = state.results;
  const dependency = JSON.stringify([file?.name, values]);
  return html`<div class="columns">
    <form class="panel" onSubmit=${(event) => event.preventDefault()} aria-label="The program">
      <${FileDrop} id="program-file" label="Program" accept=${kFileKinds.program.accept} name=${file?.name} problem=${fileText} onFile=${take} onExample=${example}
        exampleLabel="Use an example" hint="Drop the text of a compiled program here: jax.jit(f).lower(x).compile().as_text(). It stays in this page." />
      <${Controls} form="program" fields=${shown} ...${{ values }} onInput=${(field, value) => setValues({ ...values, [field.key]: value }, field.key)} /></form>
    <div class="answer ${state.isStale ? "stale" : ""}" aria-busy=${state.status === "running"}>
      ${!file && html`<p class="empty">How long does a step of your program take, how much of it waits for collectives, and what would
        quantizing them save? Drop the program, or use the example: 32 layers of a transformer on 16 chips.</p>`}
      <${ProblemNote} problem=${state.problem} />
      ${!state.problem && imported && html`<${ImportVerdict} imported=${imported} />`}
      <${Progress} state=${state} onCancel=${() => asking.cancel()} onAgain=${ask} />
      ${imported && !state.problem && html`<${ImportFacts} imported=${imported} /><${ImportTable} imported=${imported} />
        <${OnDemand} ...${{ engine, dependency }} label="Decide for each collective" hint="with error, interval and sensitivity; up to a minute"
          makeStage=${() => ({ name: "advice", title: "Deciding for each collective", files, read: parsed, command: () => [...adviceWords(path, values), "--json"] })}
          shown=${({ advice }) => html`<${GroupAdvice} result=${advice} />`} />
        <${OnDemand} ...${{ engine, dependency }} label="Audit the program" hint="finds collectives that move too much, round too often, or hold up the chip"
          makeStage=${() => ({ name: "audit", title: "Auditing", files, read: (answer) => parsed(answer).audit, command: () => [...importWords(path, values), "--audit", "--json"] })}
          shown=${({ audit }) => html`<${Findings} audit=${audit} />`} />`}
      ${file && html`<${TakeAlong} id="program-command" words=${adviceWords(path, values)} needs="The link holds the settings, not the program: it never leaves this page." />`}
      <${Notes} notes=${state.notes} />
    </div></div>`;
}
