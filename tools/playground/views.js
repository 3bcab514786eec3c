// Pictures of two compared collectives: where their time goes, and how they run on the machine.

import { ProblemNote } from "./answer.js";
import { Asking, kIdle } from "./asking.js";
import { Engine } from "./engine.js";
import { countText, timeText } from "./figures.js";
import { html, useEffect, useMemo, useState } from "./libraries.js";
import { readPicture } from "./picture.js";
import { StillMachine, Timeline } from "./timeline.js";
import { allMessages, readTrace } from "./trace.js";

const kComparedFile = "/in/compared.json";
const kPictureFile = "/out/machine.svg";
const kTraceFile = "/out/trace.json";
const kMostDrawn = 600;      // chips of a picture
const kMostMessages = 25000;  // of a trace: about 50 MB

const decoded = (bytes) => new TextDecoder().decode(bytes);

/// The configuration with the two collectives of an advice; without one, its own collectives.
function comparedConfig(config, advice) {
  if (!advice) return { ...config, numerics: "off" };
  const { plain, quantized } = advice;
  return { ...config, baseline: plain.label, numerics: "off", collectives: [plain, quantized].filter(Boolean).map(({ collective }) => collective) };
}

/// Stages that draw the machine and time the collectives of the advice, after the stages quick and advice.
export function machineStages(config, changes) {
  const files = ({ advice }) => ({ [kComparedFile]: JSON.stringify(comparedConfig(config, advice)) });
  return [
    { name: "picture", title: "Drawing the machine", files, want: [kPictureFile], isNeeded: ({ quick }) => quick.runs[0].chips <= kMostDrawn,
      command: () => ["topology", kComparedFile, "--svg", kPictureFile, ...changes],
      read: ({ files: written }) => readPicture(new DOMParser().parseFromString(decoded(written[kPictureFile]), "image/svg+xml")) },
    { name: "compared", title: "Timing both", files, command: () => ["run", kComparedFile, "--json", ...changes],
      read: ({ stdout }, { advice }) => ({ runs: JSON.parse(stdout).runs, config: comparedConfig(config, advice), changes }) },
  ];
}

const kParts = [["payload_s", "values on the links"], ["scales_s", "scales on the links"], ["sync_s", "synchronisation"],
  ["startup_s", "start-up"], ["idle_s", "links idle"]];

/// Bars as long as the times of runs, divided into `parts` [[key, name]] of `run.parts`.
export function Bars({ title, runs, parts }) {
  const longest = Math.max(...runs.map((run) => run.time_s));
  const shown = parts.filter(([key]) => runs.some((run) => run.parts[key] > 0));
  const textOf = (run) => shown.filter(([key]) => run.parts[key] > 0).map(([key, name]) => `${name} ${timeText(run.parts[key])}`).join(", ");
  const segment = (run) => ([key]) => html`<i class=${key} style=${{ width: `${100 * run.parts[key] / run.time_s}%` }}></i>`;
  return html`<figure class="chart"><figcaption>${title}</figcaption>
    <div class="bars">${runs.map((run) => html`<p>${run.label} <b>${timeText(run.time_s)}</b></p>
      <div class="bar" style=${{ width: `${100 * run.time_s / longest}%` }} aria-hidden="true">${shown.map(segment(run))}</div>
      <p class="hint">${textOf(run)}</p>`)}</div>
    <p class="legend" aria-hidden="true">${shown.map(([key, name]) => html`<span><i class="key ${key}"></i>${name}</span>`)}</p></figure>`;
}

/// The parts of the times of two compared collectives.
export function Breakdown({ compared }) {
  const runs = compared?.runs.map((run) => ({ ...run, parts: run.breakdown }));
  return runs && html`<${Bars} title="Where the time goes" parts=${kParts} runs=${runs} />`;
}

function traceStage(config, label, changes) {
  return { name: "trace", title: "Recording the transfers", want: [kTraceFile], files: () => ({ [kComparedFile]: JSON.stringify(config) }),
    command: () => ["run", kComparedFile, "--json", "--trace", kTraceFile, "--trace-run", label, "--set", "/simulation=full", ...changes],
    read: ({ files }) => readTrace(decoded(files[kTraceFile])) };
}

/// The machine with the transfers of one of the compared collectives, as chosen.
/// Its simulator is its own, so that the next answer does not wait for a trace, and ends with it.
export function MachinePicture({ compared, picture }) {
  const { runs, config, changes } = compared;
  const [wanted, setWanted] = useState(null);
  const [state, setState] = useState(kIdle);
  const engine = useMemo(() => new Engine(), []);
  const asking = useMemo(() => new Asking(engine, setState), []);
  const run = runs.find(({ label }) => label === wanted) ?? runs.at(-1);
  const messages = allMessages(run);
  const isSmall = messages <= kMostMessages;
  useEffect(() => { if (isSmall) asking.ask([traceStage(config, run.label, changes)]); }, [run.label, compared]);
  useEffect(() => { if (state.status === "done") engine.cancel(); }, [state.status]);
  useEffect(() => () => engine.cancel(), []);
  const { trace } = state.results;
  const name = (one) => `${one.label}, ${timeText(one.time_s)}`;
  return html`<section class="run" aria-labelledby="run-heading"><h3 id="run-heading">The machine as the collective runs</h3>
    <fieldset class="radios"><legend class="offscreen">Collective to show</legend>${runs.map((one) => html`<label>
      <input type="radio" name="shown-run" checked=${one === run} onInput=${() => setWanted(one.label)} /> ${name(one)}</label>`)}</fieldset>
    <${ProblemNote} problem=${state.problem} />
    ${isSmall && trace?.label === run.label ? html`<${Timeline} key=${run.label} ...${{ picture, trace }} />`
      : html`<${StillMachine} picture=${picture} reason=${isSmall ? "Recording the transfers…"
        : `${countText(messages)} messages are too many to show one by one. The option --trace of the command line records them.`} />`}
  </section>`;
}
