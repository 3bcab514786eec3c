// "What would serving cost?"

import { Facts, Notes, ProblemNote, Progress, Rows, TakeAlong, Verdict } from "./answer.js";
import { Chart } from "./chart.js";
import { Controls } from "./controls.js";
import { problemOf, schemaAt } from "./fields.js";
import { countText, dollarText, numberText, parameterName, percentText, rangeText, sizeText, timeText } from "./figures.js";
import { html, useRef } from "./libraries.js";
import { changedChip, isTpu, parametersAt } from "./machines.js";
import { Sensitivities, shownParameters } from "./sensitivity.js";

const kSchemes = {
  bf16: "16 bits, products in bf16", fp8: "8-bit floating point, products in fp8", zeroquant: "int8 weights and activations, products in int8",
  "weight-only-int8": "int8 weights, products in bf16", "weight-only-int4": "int4 weights, products in bf16",
};

const named = (names) => names.map((value) => ({ value, label: value }));

export function servingFields(known) {
  const about = (key) => schemaAt(known.schemas.plan, `/request/${key}`).description;
  const text = (key, label, standard, description, more = {}) => ({ key, label, kind: "text", standard, options: [], description, ...more });
  const set = (key, label, standard, options, description) => ({ key, label, kind: "set", standard, options, description, further: true });
  const chips = [...known.chips].sort((a, b) => isTpu(b.name) - isTpu(a.name)).map(({ name, description }) => ({ value: name, label: name, about: description }));
  return [
    { key: "model", label: "Model", kind: "choice", standard: "llama3.1-8b", options: named(known.models), description: "The served model. The command line takes others, as a file or a config.json of Hugging Face." },
    { ...text("isl", "Prompt (tokens)", "1024", about("isl")), kind: "integer", least: 1, most: 16777216 },
    { ...text("osl", "Output (tokens)", "256", about("osl")), kind: "integer", least: 2, most: 16777216 },
    text("ttft", "Limit: time to first token", "1 s", `${about("ttft_s")} (TTFT), with its unit`),
    text("tpot", "Limit: time per output token", "50 ms", `${about("tpot_s")} after the first (TPOT), with its unit`),
    { ...set("chips", "Chips", ["tpu-v6e"], chips, "Chips to compare. Each adds to the time of the search."), further: false },
    { ...text("requests-per-s", "Requests per second", "", "Load of all replicas: the answer then states how many replicas are needed.", { isOptional: true }), kind: "number", least: 0 },
    set("sizes", "Chips of a replica", ["1", "2", "4", "8"], named(["1", "2", "4", "8", "16"]), "Numbers of chips that share one copy of the model."),
    set("precisions", "Weights", ["bf16", "fp8", "zeroquant", "weight-only-int4"], named(Object.keys(kSchemes)),
      `Schemes of the weights and their products. ${Object.entries(kSchemes).map(([name, meaning]) => `${name}: ${meaning}`).join("; ")}.`),
    set("kv", "KV cache", ["bf16", "int8-row"], named(["bf16", "int8-row"]), "Formats of the stored keys and values. int8-row: int8 with a scale for each row."),
    set("collectives", "AllReduces", ["bf16", "int8"], named(["bf16", "int8", "fp8-e4m3"]), "Formats of the AllReduces between the chips of a replica."),
    { ...text("percentile", "Requests within the limits (%)", "90", about("percentile"), { further: true }), kind: "number", least: 1, most: 100 },
  ];
}

export function planWords(values, chips = values.chips) {
  const lists = ["sizes", "precisions", "kv", "collectives"].flatMap((key) => [`--${key}`, values[key].join(",")]);
  const load = values["requests-per-s"].trim() ? ["--requests-per-s", values["requests-per-s"].trim()] : [];
  return ["plan", "--model", values.model, "--isl", values.isl, "--osl", values.osl, "--ttft", values.ttft, "--tpot", values.tpot,
    "--percentile", values.percentile, "--chips", chips.join(","), ...lists, ...load];
}

/// Chips of the plan: a changed one is a hardware file that is based on it.
function chipsOf(values) {
  const chips = values.chips.map((name) => changedChip(name, parametersAt(values.changed, `/chip/${name}/`)));
  return { chips: chips.map(({ word }) => word), files: Object.assign({}, ...chips.map(({ files }) => files)) };
}

const shortName = (chip) => chip.replace(/^\/in\/|\.json$/g, "");
const replica = ({ chip, chips }) => `${chips} x ${shortName(chip)}`;
const lastPoint = ({ points }) => points.at(-1);

function PlanVerdict({ plan }) {
  const best = plan.ranked[0];
  if (!best) return html`<${Verdict} kind="no" word="None"><p>No chosen combination meets the limits. Longer limits, other chips, or more chips of a replica may.</p><//>`;
  const cost = best.dollars_per_million_tokens;
  return html`<${Verdict} kind="yes" word=${cost === null ? `${numberText(best.output_tokens_per_s_per_chip)} tokens/s` : dollarText(cost)}>
    <p>${cost === null ? "per chip" : "per million generated tokens"}: <b>${replica(best)}</b>, weights in ${best.precision}${kSchemes[best.precision] ? ` (${kSchemes[best.precision]})` : ""}, KV cache in ${best.kv}${best.collective ? `, AllReduces in ${best.collective}` : ""}.</p>
    <p>Serves ${numberText(lastPoint(best).requests_per_s, 3)} requests/s${best.requests_per_s_low === undefined ? "" : `, 68 % interval ${rangeText(best.requests_per_s_low, best.requests_per_s_high, (rate) => numberText(rate, 3))}`}.</p><//>`;
}

function PlanFacts({ plan }) {
  const best = plan.ranked[0];
  if (!best) return null;
  const point = lastPoint(best);
  return html`<${Facts} lines=${[
    ["First token", timeText(point.ttft_s), `limit ${timeText(plan.request.ttft_s)}, at ${percentText(plan.request.percentile)} of requests`],
    ["Per output token", timeText(point.tpot_s), `limit ${timeText(plan.request.tpot_s)}`],
    ["Per chip", `${numberText(best.output_tokens_per_s_per_chip)} tokens/s`], ["Per user", `${numberText(point.tokens_per_s_per_user, 3)} tokens/s`],
    ["Running sequences", `up to ${countText(best.sequences)}`, `with ${countText(best.tokens)} tokens per step`],
    ["Memory of a chip", `${sizeText(best.weights_bytes)} of weights, ${sizeText(best.kv_cache_bytes)} for the KV cache`],
    ["Error", `NMSE of weights ${best.weights_nmse.toPrecision(2)}, of the KV cache ${best.kv_nmse.toPrecision(2)}, of sums ${best.sums_nmse.toPrecision(2)}`, "squared error over squared signal, on drawn values"],
    ["Most sensitive to", plan.sensitivities.map(({ parameter, change }) => `${parameterName(parameter)} (${change > 0 ? "+" : ""}${percentText(change)})`).join(", "), "change of the rate with 10 % more"],
    ["Chip", best.calibrated ? "calibrated with measurements" : "not calibrated: datasheets and assumptions"],
    ["Compared", `${countText(plan.estimated.length)} combinations within the limits, ${countText(plan.obstacles.length)} out, ${countText(plan.ranked.length)} simulated under a load`],
  ]} />`;
}

function PlanTable({ plan }) {
  const rows = plan.ranked.slice(0, 10);
  return html`<h3>Fastest by cost</h3><${Rows} caption="Candidates, best first" numeric=${[4, 5, 6, 7, 8]}
    headings=${["replica", "weights", "KV cache", "AllReduces", "requests/s", "first token", "per token", "tokens/s per chip", "$ per million tokens"]}
    rows=${rows.map((one) => [replica(one), one.precision, one.kv, one.collective ?? "–", numberText(lastPoint(one).requests_per_s, 3), timeText(lastPoint(one).ttft_s),
      timeText(lastPoint(one).tpot_s), numberText(one.output_tokens_per_s_per_chip), one.dollars_per_million_tokens === null ? "–" : dollarText(one.dollars_per_million_tokens)])} />
    ${plan.obstacles.length > 0 && html`<details><summary>${countText(plan.obstacles.length)} combinations are out</summary><ul>${[...new Set(plan.obstacles.map((one) => `${replica(one)}: ${one.precision}: ${one.reason}`))].slice(0, 30)
      .map((text) => html`<li>${text}</li>`)}</ul></details>`}`;
}

function PlanChart({ plan }) {
  const series = plan.ranked.slice(0, 5).map((one) => ({ name: `${replica(one)}, ${one.precision}, KV ${one.kv}`,
    points: one.points.map(({ tokens_per_s_per_user: user, output_tokens_per_s: rate }) => [user, rate]) }));
  return html`<${Chart} title="Throughput and speed of a replica" x=${{ label: "tokens/s per user" }} y=${{ label: "tokens/s of the replica" }} series=${series}
    description="Each point is a simulated load: more requests at once give more tokens in all, and fewer to each user." />`;
}

/// Sliders of the parameters of the best chip; a new plan is asked for when one is released.
function PlanSliders({ known, plan, values, setValues, ask }) {
  const best = shortName(plan.ranked[0].chip).replace(/-changed$/, "");
  const chip = known.chips.find(({ name }) => name === best);
  if (!chip) return null;
  const changed = Object.fromEntries(Object.entries(parametersAt(values.changed, `/chip/${best}/`)).map(([name, value]) => [`/hardware/${name}`, value]));
  const withOne = (name, text) => ({ ...values, changed: { ...values.changed, [`/chip/${best}/${name}`]: text } });
  const notes = Object.fromEntries(plan.sensitivities.map(({ parameter, change }) => [parameter, `10 % more: ${percentText(change)} more requests/s.`]));
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
