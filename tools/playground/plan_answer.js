// The answer of a capacity plan: verdict, facts, candidates, chart.

import { Facts, Rows, Verdict } from "./answer.js";
import { Chart } from "./chart.js";
import { countText, dollarText, numberText, parameterName, percentText, rangeText, sizeText, timeText } from "./figures.js";
import { html } from "./libraries.js";

/// Schemes of the weights that the page offers, with their meaning.
export const kSchemes = {
  bf16: "16 bits, products in bf16", fp8: "8-bit floating point, products in fp8", zeroquant: "int8 weights and activations, products in int8",
  "weight-only-int8": "int8 weights, products in bf16", "weight-only-int4": "int4 weights, products in bf16",
};

/// Name of a chip, also of a changed one in a file.
export const shortName = (chip) => chip.replace(/^\/in\/|\.json$/g, "");

const replica = ({ chip, chips }) => `${chips} x ${shortName(chip)}`;
const lastPoint = ({ points }) => points.at(-1);
const rateText = (rate) => numberText(rate, 3);
const errorText = (nmse) => (nmse === 0 ? "0" : nmse.toPrecision(2));

/// "weights in fp8 (...), KV cache in bf16"
function formatsText({ precision, kv, collective }) {
  const weights = kSchemes[precision] ? `${precision} (${kSchemes[precision]})` : precision;
  return `weights in ${weights}, KV cache in ${kv}${collective ? `, AllReduces in ${collective}` : ""}`;
}

export function PlanVerdict({ plan }) {
  const [best] = plan.ranked;
  if (!best) {
    const reason = plan.obstacles.length ? ` The first: ${replica(plan.obstacles[0])}, ${plan.obstacles[0].precision}: ${plan.obstacles[0].reason}.` : "";
    return html`<${Verdict} kind="no" word="None"><p>No chosen combination meets the limits.${reason}</p>
      <p>Longer limits, other chips, or more chips of a replica may.</p><//>`;
  }
  const { dollars_per_million_tokens: cost, requests_per_s_low: low, requests_per_s_high: high } = best;
  const rate = numberText(best.output_tokens_per_s_per_chip);
  const interval = low === undefined ? "" : `, 68 % interval ${rangeText(low, high, rateText)}`;
  return html`<${Verdict} kind="yes" word=${cost === null ? `${rate} tokens/s` : dollarText(cost)}>
    <p>${cost === null ? "per chip" : "per million generated tokens"}: <b>${replica(best)}</b>, ${formatsText(best)}.</p>
    <p>Serves ${rateText(lastPoint(best).requests_per_s)} requests/s${interval}.</p><//>`;
}

export function PlanFacts({ plan }) {
  const [best] = plan.ranked;
  if (!best) return null;
  const point = lastPoint(best);
  const sensitive = plan.sensitivities.map(({ parameter, change }) => `${parameterName(parameter)} (${change > 0 ? "+" : ""}${percentText(change)})`);
  const errors = [`weights ${errorText(best.weights_nmse)}`, `KV cache ${errorText(best.kv_nmse)}`, `sums ${errorText(best.sums_nmse)}`];
  const counts = [`${countText(plan.estimated.length)} combinations within the limits`, `${countText(plan.obstacles.length)} out`,
    `${countText(plan.ranked.length)} simulated under a load`];
  return html`<${Facts} lines=${[
    ["First token", timeText(point.ttft_s), `limit ${timeText(plan.request.ttft_s)}, at ${percentText(plan.request.percentile)} of requests`],
    ["Per output token", timeText(point.tpot_s), `limit ${timeText(plan.request.tpot_s)}`],
    ["Per chip", `${numberText(best.output_tokens_per_s_per_chip)} tokens/s`],
    ["Per user", `${rateText(point.tokens_per_s_per_user)} tokens/s`],
    ["Running sequences", `up to ${countText(best.sequences)}`, `with ${countText(best.tokens)} tokens per step`],
    ["Memory of a chip", `${sizeText(best.weights_bytes)} of weights, ${sizeText(best.kv_cache_bytes)} for the KV cache`],
    ["Error (NMSE)", errors.join(", "), "squared error over squared signal, on drawn values"],
    ["Most sensitive to", sensitive.join(", "), "change of the rate with 10 % more"],
    ["Chip", best.calibrated ? "calibrated with measurements" : "not calibrated: datasheets and assumptions"],
    ["Compared", counts.join(", ")],
  ]} />`;
}

const kMostRows = 10;
const kMostReasons = 30;

function rowOf(one) {
  const point = lastPoint(one);
  return [replica(one), one.precision, one.kv, one.collective ?? "–", rateText(point.requests_per_s), timeText(point.ttft_s), timeText(point.tpot_s),
    numberText(one.output_tokens_per_s_per_chip), one.dollars_per_million_tokens === null ? "–" : dollarText(one.dollars_per_million_tokens)];
}

function Reasons({ obstacles }) {
  const reasons = [...new Set(obstacles.map((one) => `${replica(one)}: ${one.precision}: ${one.reason}`))];
  return html`<details><summary>${countText(obstacles.length)} combinations are out</summary>
    <ul>${reasons.slice(0, kMostReasons).map((text) => html`<li>${text}</li>`)}</ul></details>`;
}

export function PlanTable({ plan }) {
  return html`${plan.ranked.length > 0 && html`<h3>Best by cost</h3><${Rows} caption="Candidates, best first" numeric=${[4, 5, 6, 7, 8]}
      headings=${["replica", "weights", "KV cache", "AllReduces", "requests/s", "first token", "per token", "tokens/s per chip", "$ per million"]}
      rows=${plan.ranked.slice(0, kMostRows).map(rowOf)} />`}
    ${plan.obstacles.length > 0 && html`<${Reasons} obstacles=${plan.obstacles} />`}`;
}

export function PlanChart({ plan }) {
  const series = plan.ranked.slice(0, 5).map((one) => ({
    name: `${replica(one)}, ${one.precision}, KV ${one.kv}`,
    points: one.points.map(({ tokens_per_s_per_user: user, output_tokens_per_s: rate }) => [user, rate]),
  }));
  return html`<${Chart} title="Throughput and speed of a replica" series=${series}
    x=${{ label: "tokens/s per user" }} y=${{ label: "tokens/s of the replica" }}
    description="Each point is a simulated load: more requests at once give more tokens in all, and fewer to each user." />`;
}
