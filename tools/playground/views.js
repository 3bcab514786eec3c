// Pictures of two compared collectives: where their time goes, and how they run on the machine.

import { ProblemNote } from "./answer.js";
import { Asking } from "./asking.js";
import { Engine } from "./engine.js";
import { countText, percentText, timeText } from "./figures.js";
import { html, useEffect, useMemo, useState } from "./libraries.js";
import { readPicture } from "./picture.js";
import { StillMachine, Timeline } from "./timeline.js";
import { readTrace } from "./trace.js";

const kComparedFile = "/in/compared.json";
const kPictureFile = "/out/machine.svg";
const kTraceFile = "/out/trace.json";
const kMostDrawn = 600;      // chips of a picture
const kMostMessages = 6000;  // of a trace: about 30 MB

const decoded = (bytes) => new TextDecoder().decode(bytes);

/// The configuration with the two collectives of an advice.
function comparedConfig(config, { plain, quantized }) {
  return { ...config, baseline: plain.label, numerics: "off", collectives: [plain, quantized].filter(Boolean).map(({ collective }) => collective) };
}

/// Stages that draw the machine and time the collectives of the advice, after the stages quick and advice.
export function machineStages(config, changes) {
  const files = ({ advice }) => ({ [kComparedFile]: JSON.stringify(comparedConfig(config, advice)) });
  return [
    { name: "compared", title: "Timing both", files, command: () => ["run", kComparedFile, "--json", ...changes], read: ({ stdout }) => JSON.parse(stdout) },
    { name: "picture", title: "Drawing the machine", files, want: [kPictureFile], isNeeded: ({ advice }) => advice.chips <= kMostDrawn,
      command: () => ["topology", kComparedFile, "--svg", kPictureFile, ...changes],
      read: ({ files: written }) => readPicture(new DOMParser().parseFromString(decoded(written[kPictureFile]), "image/svg+xml")) },
  ];
}

const kParts = [["payload_s", "values on the links"], ["scales_s", "scales on the links"], ["sync_s", "synchronisation"],
  ["startup_s", "start-up"], ["idle_s", "links idle"]];

/// Bars of the parts of the time; as long as the time.
export function Breakdown({ compared }) {
  if (!compared) return null;
  const { runs } = compared;
  const longest = Math.max(...runs.map((run) => run.time_s));
  const shown = kParts.filter(([key]) => runs.some((run) => run.breakdown[key] > 0));
  const text = runs.map((run) => `${run.label}: ${shown.map(([key, name]) => `${timeText(run.breakdown[key])} ${name}`).join(", ")}`).join("; ");
  return html`<figure class="chart"><figcaption>Where the time goes</figcaption>
    <div class="bars" role="img" aria-label=${text}>${runs.map((run) => html`
      <p>${run.label} <b>${timeText(run.time_s)}</b></p>
      <div class="bar" style=${{ width: `${100 * run.time_s / longest}%` }}>${shown.map(([key, name]) => html`
        <i class=${key} style=${{ width: `${100 * run.breakdown[key] / run.time_s}%` }} title="${name}: ${timeText(run.breakdown[key])}"></i>`)}</div>
      <p class="hint">${shown.filter(([key]) => run.breakdown[key] > 0).map(([key, name]) => `${name} ${timeText(run.breakdown[key])}`).join(", ")}</p>`)}</div>
    <p class="legend">${shown.map(([key, name]) => html`<span><i class="key ${key}"></i>${name}</span>`)}</p></figure>`;
}

function traceStage(config, label, changes) {
  return { name: "trace", title: "Recording the transfers", want: [kTraceFile], files: () => ({ [kComparedFile]: JSON.stringify(config) }),
    command: () => ["run", kComparedFile, "--json", "--trace", kTraceFile, "--trace-run", label, "--set", "/simulation=full", ...changes],
    read: ({ files }) => readTrace(decoded(files[kTraceFile])) };
}

/// The machine with the transfers of one of the compared collectives, as chosen.
/// Its simulator is its own, so that the next answer does not wait for a trace, and ends with it.
export function MachinePicture({ results, config, changes }) {
  const { compared, picture, advice } = results;
  const runs = compared.runs;
  const [wanted, setWanted] = useState(null);
  const [state, setState] = useState({ results: {} });
  const engine = useMemo(() => new Engine(), []);
  const asking = useMemo(() => new Asking(engine, setState), []);
  const run = runs.find(({ label }) => label === wanted) ?? runs.at(-1);
  const isSmall = run.messages <= kMostMessages;
  const both = useMemo(() => comparedConfig(config, advice), [advice]);
  useEffect(() => { if (isSmall) asking.ask([traceStage(both, run.label, changes)]); }, [run.label, both]);
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
        : `${countText(run.messages)} messages are too many to show one by one; each link sends ${percentText(run.breakdown.payload_s / run.time_s)} of the time. ` +
          "The option --trace of the command line records them."} />`}
  </section>`;
}
