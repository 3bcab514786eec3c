// Answers about a program that take longer, and so come on demand.

import { ProblemNote, Progress, Rows, Verdict } from "./answer.js";
import { Asking, kIdle } from "./asking.js";
import { Engine } from "./engine.js";
import { countText, decibelText, rangeText, sizeText, speedupText, timeText } from "./figures.js";
import { html, useEffect, useMemo, useState } from "./libraries.js";

/// A button that runs one stage, with its progress and answer. A change of `dependency` drops both. Its simulator is its
/// own, so that it runs next to other questions.
export function OnDemand({ label, hint, stage, shown, dependency }) {
  const [state, setState] = useState(kIdle);
  const [asked, setAsked] = useState(null);
  const engine = useMemo(() => new Engine(), []);
  const asking = useMemo(() => new Asking(engine, setState), []);
  useEffect(() => () => asking.cancel(), [dependency]);
  useEffect(() => { if (state.status !== "running" && state !== kIdle) engine.cancel(); }, [state.status]);
  const ask = () => {
    setAsked(dependency);
    asking.ask([stage]);
  };
  const isCurrent = asked === dependency;
  return html`<div class="demand">
    ${!(isCurrent && state.status === "running") && html`<p class="buttons"><button type="button" onClick=${ask}>${label}</button>
      <span class="hint">${hint}</span></p>`}
    ${isCurrent && html`<${Progress} state=${state} onCancel=${() => asking.cancel()} onAgain=${ask} /><${ProblemNote} problem=${state.problem} />`}
    ${isCurrent && state.status === "done" && shown(state.results)}</div>`;
}

const kWords = { yes: "Yes", no: "No", unclear: "Unclear" };

function groupRow({ group, quantize, label, reason, step_speedup: speedup, sqnr_db: sqnr, break_even_bytes: bytes }) {
  return [group, quantize, label ?? reason ?? "", speedup ? speedupText(speedup) : "–", sqnr === undefined ? "–" : decibelText(sqnr),
    bytes ? sizeText(bytes) : "–"];
}

/// Verdict for every group of collectives.
export function GroupAdvice({ advice }) {
  const { uncertainty } = advice;
  const interval = uncertainty && ` (68 % interval ${rangeText(uncertainty.speedup_low, uncertainty.speedup_high, speedupText)})`;
  return html`<${Verdict} kind=${advice.quantize} word=${kWords[advice.quantize] ?? advice.quantize}>
      <p>With the best choice for each collective, a step is faster by a factor of <b>${speedupText(advice.speedup)}</b>${interval}.</p><//>
    <${Rows} caption="Decision for each collective" numeric=${[3, 4, 5]}
      headings=${["collective", "quantize?", "how", "step", "error (SQNR)", "pays from"]} rows=${advice.groups.map(groupRow)} />`;
}

const kRules = {
  "wide-type": "moves a wider type than needed", "half-sum": "sums in 16 bits, and rounds at each addition",
  casts: "moves values that are only cast afterwards", "gathered-twice": "gathers the same value again", exposed: "holds up the chip",
  small: "many small collectives", redundant: "moves nothing that is needed",
};

function savingText({ saved_s: saved }) {
  if (saved > 0) return `saves up to ${timeText(saved)} of a step`;
  return saved < 0 ? `the remedy costs ${timeText(-saved)} of a step` : "no saving estimated";
}

/// Findings of the audit, largest saving first.
export function Findings({ audit }) {
  if (audit.findings.length === 0) return html`<p class="hint" role="status">The audit has no finding.</p>`;
  return html`<h3 role="status">${countText(audit.findings.length)} findings, largest saving first</h3>
    <ol class="findings">${audit.findings.map((one) => html`<li>
      <b>${one.collectives.map(({ group }) => group).join(", ")}</b> ${kRules[one.rule] ?? one.rule}: ${savingText(one)}
      <p>${one.why}</p><p>Remedy: ${one.remedy}</p><p class="aside">${one.op_name} ${one.place}</p></li>`)}</ol>`;
}
