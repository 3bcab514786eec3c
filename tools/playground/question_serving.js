// "What would serving cost?"

import { Notes, ProblemNote, Progress, TakeAlong } from "./answer.js";
import { Controls } from "./controls.js";
import { problemOf, schemaAt } from "./fields.js";
import { percentText } from "./figures.js";
import { html, useRef } from "./libraries.js";
import { changedChip, isTpu, parametersAt } from "./machines.js";
import { kSchemes, PlanChart, PlanFacts, PlanTable, PlanVerdict, shortName } from "./plan_answer.js";
import { Sensitivities, shownParameters } from "./sensitivity.js";

const named = (names) => names.map((value) => ({ value, label: value }));

export function servingFields(known) {
  const about = (key) => schemaAt(known.schemas.plan, `/request/${key}`).description;
  const text = (key, label, standard, description, more = {}) => ({ key, label, kind: "text", standard, options: [], description, ...more });
  const set = (key, label, standard, options, description) => ({ key, label, kind: "set", standard, options, description, further: true });
  const sorted = [...known.chips].sort((a, b) => isTpu(b.name) - isTpu(a.name));
  const chips = sorted.map(({ name, description }) => ({ value: name, label: name, about: description }));
  return [
    { key: "model", label: "Model", kind: "choice", standard: "llama3.1-8b", options: named(known.models),
      description: "The served model. The command line takes others, as a file or a config.json of Hugging Face." },
    { ...text("isl", "Prompt (tokens)", "1024", about("isl")), kind: "integer", least: 1, most: 16777216 },
    { ...text("osl", "Output (tokens)", "256", about("osl")), kind: "integer", least: 2, most: 16777216 },
    text("ttft", "Limit: time to first token", "1 s", `${about("ttft_s")} (TTFT), with its unit`),
    text("tpot", "Limit: time per output token", "50 ms", `${about("tpot_s")} after the first (TPOT), with its unit`),
    { ...set("chips", "Chips", ["tpu-v6e"], chips, "Chips to compare. Each adds to the time of the search."), further: false },
    set("sizes", "Chips of a replica", ["1", "2", "4", "8"], named(["1", "2", "4", "8", "16"]), "Numbers of chips that share one copy of the model."),
    set("precisions", "Weights", ["bf16", "fp8", "zeroquant", "weight-only-int4"], named(Object.keys(kSchemes)),
      `Schemes of the weights and their products. ${Object.entries(kSchemes).map(([name, meaning]) => `${name}: ${meaning}`).join("; ")}.`),
    set("kv", "KV cache", ["bf16", "int8-row"], named(["bf16", "int8-row"]),
      "Formats of the stored keys and values. int8-row: int8 with a scale for each row."),
    set("collectives", "AllReduces", ["bf16", "int8"], named(["bf16", "int8", "fp8-e4m3"]),
      "Formats of the AllReduces between the chips of a replica."),
    { ...text("percentile", "Requests within the limits (%)", "90", about("percentile"), { further: true }), kind: "number", least: 1, most: 100 },
  ];
}

export function planWords(values, chips = values.chips) {
  const lists = ["sizes", "precisions", "kv", "collectives"].flatMap((key) => [`--${key}`, values[key].join(",")]);
  return ["plan", "--model", values.model, "--isl", values.isl, "--osl", values.osl, "--ttft", values.ttft, "--tpot", values.tpot,
    "--percentile", values.percentile, "--chips", chips.join(","), ...lists];
}

/// Chips of the plan: a changed one is a hardware file that is based on it.
function chipsOf(values) {
  const chips = values.chips.map((name) => changedChip(name, parametersAt(values.changed, `/chip/${name}/`)));
  return { chips: chips.map(({ word }) => word), files: Object.assign({}, ...chips.map(({ files }) => files)) };
}

/// Sliders of the parameters of the best chip; a new plan is asked for when one is released.
function PlanSliders({ known, plan, values, setValues, ask }) {
  const best = shortName(plan.ranked[0].chip).replace(/-changed$/, "");
  const chip = known.chips.find(({ name }) => name === best);
  if (!chip) return null;
  const own = Object.entries(parametersAt(values.changed, `/chip/${best}/`));
  const changed = Object.fromEntries(own.map(([name, value]) => [`/hardware/${name}`, value]));
  const withOne = (name, text) => ({ ...values, changed: { ...values.changed, [`/chip/${best}/${name}`]: text } });
  const noteOf = ({ parameter, change }) => [parameter, `10 % more: ${percentText(change)} more requests/s.`];
  const notes = Object.fromEntries(plan.sensitivities.map(noteOf));
  return html`<h3>Most sensitive to</h3><${Sensitivities} form="serving" names=${shownParameters(changed, plan.sensitivities)} sensitive=${[]}
    ...${{ chip, changed, notes }} limits=${(name) => known.limits[name]} onInput=${(name, text) => setValues(withOne(name, text), name)}
    onChange=${(text, name) => ask(withOne(name, text))} />`;
}

export function ServingQuestion({ known, fields, values, setValues, state, asking }) {
  const asked = useRef(null);
  const isValid = fields.every((field) => problemOf(field, values[field.key]) === "");
  const ask = (given = values) => {
    asked.current = JSON.stringify(given);
    const { chips, files } = chipsOf(given);
    asking.ask([{ name: "plan", title: "Searching chips and formats", files: () => files, command: () => [...planWords(given, chips), "--json"],
      read: ({ stdout }) => JSON.parse(stdout) }]);
  };
  const { plan } = state.results;
  const isOld = plan && (state.isStale || asked.current !== JSON.stringify(values));
  const submit = (event) => {
    event.preventDefault();
    if (isValid) ask();
  };
  const { chips, files } = chipsOf(values);
  return html`<div class="columns">
    <form class="panel" onSubmit=${submit} aria-label="The load">
      <${Controls} form="serving" ...${{ fields, values }} onInput=${(field, value) => setValues({ ...values, [field.key]: value }, field.key)} />
      <p class="buttons"><button class="main" disabled=${!isValid}>Plan</button><span class="hint">a few seconds for each chip</span></p></form>
    <div class="answer ${isOld ? "stale" : ""}" aria-busy=${state.status === "running"}>
      ${!plan && state.status !== "running" && !state.problem && html`<p class="empty">Which chips and which formats serve a model within
        limits of latency, and at which cost? Set the load and press <b>Plan</b>: the simulator searches all combinations, and runs the best
        under a load.</p>`}
      <${ProblemNote} problem=${state.problem} />
      ${isOld && state.status !== "running" && html`<p class="note">The settings have changed since this answer.
        <button type="button" disabled=${!isValid} onClick=${() => ask()}>Plan again</button></p>`}
      ${plan && !state.problem && html`<${PlanVerdict} plan=${plan} />`}
      <${Progress} state=${state} onCancel=${() => asking.cancel()} onAgain=${() => ask()} />
      ${plan && html`<div class=${isOld ? "old" : ""}><${PlanFacts} plan=${plan} /></div>
        ${plan.ranked.length > 0 && html`<${PlanSliders} ...${{ known, plan, values, setValues, ask }} />`}
        <div class=${isOld ? "old" : ""}><${PlanTable} plan=${plan} />
          ${plan.ranked.length > 0 && html`<div class="pictures"><${PlanChart} plan=${plan} /></div>`}</div>`}
      ${isValid && html`<${TakeAlong} id="serving-command" words=${planWords(values, chips)} files=${files} />`}
      <${Notes} notes=${state.notes} />
    </div></div>`;
}
