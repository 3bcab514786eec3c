// The machine as the collective runs: links coloured by their transfers, with a time line to scrub.

import { countText, numberText, timeText } from "./figures.js";
import { html, useEffect, useRef, useState } from "./libraries.js";
import { lineOf } from "./picture.js";
import { neighbourMoment, spanAt } from "./trace.js";

const kPlayed = 6000;  // ms for the whole collective
const kContents = { payload: "values", scales: "scales", amax: "maxima of shared scales" };

/// Advances the time while playing, by the clock of the screen.
function usePlaying(end) {
  const [time, setTime] = useState(0);
  const [isPlaying, setPlaying] = useState(false);
  const frame = useRef(0);
  useEffect(() => {
    if (!isPlaying) return undefined;
    let last = performance.now();
    const step = (now) => {
      setTime((before) => Math.min(before + (now - last) * end / kPlayed, end));
      last = now;
      frame.current = requestAnimationFrame(step);
    };
    frame.current = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame.current);
  }, [isPlaying, end]);
  useEffect(() => { if (time >= end) setPlaying(false); }, [time, end]);
  const play = () => { if (time >= end) setTime(0); setPlaying(!isPlaying); };
  return { time: Math.min(time, end), setTime: (at) => { setPlaying(false); setTime(at); }, isPlaying, play };
}

function Graph({ picture, links, time, label }) {
  const { left, top, width, height } = picture.box;
  const busy = links.map((link) => ({ link, span: spanAt(link, time), line: lineOf(picture, link.from, link.to) }));
  return html`<svg class="machine" viewBox="${left} ${top} ${width} ${height}" role="img" aria-label=${label}>
    ${picture.cables.map(([a, b]) => html`<line class="cable" x1=${a.x} y1=${a.y} x2=${b.x} y2=${b.y} />`)}
    ${busy.filter(({ span, line }) => span && line).map(({ link, span, line }) => html`
      <line key=${`${link.from}>${link.to}`} class="carries ${span.content}" ...${line} />`)}
    ${[...picture.chips].map(([name, { x, y, width: wide, height: high }]) => html`<g class="chip">
      <rect x=${x - wide / 2} y=${y - high / 2} width=${wide} height=${high} rx="4" />
      <text x=${x} y=${y + 4} text-anchor="middle">${name}</text></g>`)}
  </svg>`;
}

/// Number of busy link directions over time, as an area.
function Activity({ activity, links, end, time }) {
  const [width, height] = [activity.length, 40];
  const steps = activity.map((count, i) => `H${i}V${height - height * count / links.length}`).join("");
  return html`<svg class="activity" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true">
    <path d="M0,${height}${steps}H${width}V${height}Z" /><line x1=${width * time / end} x2=${width * time / end} y1="0" y2=${height} /></svg>`;
}

function stateAt({ links, end }, time) {
  const spans = links.map((link) => spanAt(link, time)).filter(Boolean);
  const kinds = [...new Set(spans.map(({ content }) => kContents[content] ?? content))].join(" and ");
  return `${timeText(time * 1e-6)} of ${timeText(end * 1e-6)}: ${countText(spans.length)} of ${countText(links.length)} ` +
    `link directions carry ${kinds || "nothing"}`;
}

/// The graph with its controls, for a picture (picture.js) and a trace (trace.js).
export function Timeline({ picture, trace }) {
  const { time, setTime, isPlaying, play } = usePlaying(trace.end);
  const text = stateAt(trace, time);
  const step = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    setTime(neighbourMoment(trace, time, by));
  };
  return html`<div class="timeline">
    <${Graph} picture=${picture} links=${trace.links} time=${time} label="Chips and links of the machine at ${text}" />
    <${Activity} ...${trace} time=${time} />
    <div class="scrub"><button type="button" onClick=${play}>${isPlaying ? "Pause" : "Play"}</button>
      <input type="range" class="slider" min="0" max=${trace.end} step="any" value=${time} aria-label="Time in the collective"
        aria-valuetext=${text} onInput=${(event) => setTime(Number(event.target.value))} onKeyDown=${step} /></div>
    <p class="hint" aria-hidden="true">${text}</p>
    <p class="legend"><span><i class="key payload"></i>values</span><span><i class="key scales"></i>scales</span>
      <span class="hint">Slowed down to ${numberText(kPlayed / 1000, 1)} s. Arrow keys step to the next transfer.</span></p>
  </div>`;
}

/// The graph alone, for machines whose trace would be too large for the page.
export function StillMachine({ picture, reason }) {
  return html`<div class="timeline"><${Graph} picture=${picture} links=${[]} time=${0} label="Chips and links of the machine" />
    <p class="hint">${reason}</p></div>`;
}
