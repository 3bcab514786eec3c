// Sliders of the chip parameters that an answer depends on most.

import { multiplied, numberText, parameterName } from "./figures.js";
import { html } from "./libraries.js";

const kReach = 3;  // powers of two to either side

const numberOf = (quantity) => Number(/[-+.\deE]+/.exec(String(quantity).replace("$", ""))?.[0]);

/// Parameters to show: changed ones, and the ones that the answer names, at most three.
export function shownParameters(changed, sensitive, prefix = "/hardware/") {
  const own = Object.keys(changed).filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
  return [...new Set([...own, ...sensitive.map(({ parameter }) => parameter)])].slice(0, 3);
}

function Parameter({ id, name, known, value, turn, most, note, onInput, onChange }) {
  const factor = numberOf(value) / numberOf(known.value);
  const end = most === undefined ? kReach : Math.min(kReach, Math.log2(most / numberOf(known.value)));
  const power = Math.log2(factor);
  const begin = Math.min(-kReach, turn ? Math.floor(Math.log2(turn)) : 0);
  const last = Math.max(end, power, turn && most === undefined ? Math.ceil(Math.log2(turn)) : end);
  const share = (one) => (one - begin) / (last - begin);
  const place = (one) => (share(one) > 0.9 ? "last" : share(one) < 0.1 ? "first" : "");
  const isClose = turn && Math.abs(share(Math.log2(turn)) - share(0)) < 0.2;
  const at = (one) => ({ left: `${100 * share(one)}%` });
  const turnKind = turn && `turn ${isClose ? "below" : ""} ${place(Math.log2(turn))}`;
  const read = (event) => multiplied(known.value, 2 ** Number(event.target.value), most);
  const range = known.range ? `; range ${known.range.join(" to ")}` : known.standard_error ? ` ± ${known.standard_error}` : "";
  return html`<div class="parameter">
    <label for=${id}>${parameterName(name)} <b>${value}</b>${factor === 1 ? "" : html` <span class="aside">instead of ${known.value}</span>`}</label>
    <input id=${id} type="range" class="slider" min=${begin} max=${last} step="0.05" value=${power} aria-valuetext=${value}
      aria-describedby="${id}-about" list="${id}-marks" onInput=${(event) => onInput(read(event))} onChange=${(event) => onChange(read(event))} />
    <div class="marks" aria-hidden="true"><span class=${place(0)} style=${at(0)}>this chip</span>
      ${turn && Math.log2(turn) <= last && html`<span class=${turnKind} style=${at(Math.log2(turn))}>break-even</span>`}</div>
    <p class="hint" id="${id}-about">${note} Value of the chip (${known.class}): ${known.value}${range}.
      ${known.source && html`<span class="source"> Source: ${known.source}</span>`}</p>
  </div>`;
}

/// Sliders for `names`. `sensitive`: [{ parameter, value, turns_at }] in base units, of the chip as changed.
export function Sensitivities({ form, names, chip, changed, sensitive, limits, notes = {}, onInput, onChange }) {
  const parameters = names.filter((name) => chip.parameters[name] && Number.isFinite(numberOf(chip.parameters[name].value)));
  if (parameters.length === 0) return html`<p class="hint">No single parameter of the chip turns the answer, within a factor of 16.</p>`;
  return html`${parameters.map((name) => {
    const known = chip.parameters[name];
    const value = changed[`/hardware/${name}`] ?? String(known.value);
    const found = sensitive.find(({ parameter }) => parameter === name);
    const turn = found?.turns_at && found.turns_at / found.value * numberOf(value) / numberOf(known.value);
    const turnText = turn
      ? `These two collectives take equally long at ${multiplied(known.value, turn)}, ${numberText(turn, 2)} times the chip's value.` : "";
    return html`<${Parameter} key=${name} id="${form}-${name}" ...${{ name, known, value, turn }} most=${limits?.(name)}
      note=${notes[name] ?? turnText} onInput=${(text) => onInput(name, text)} onChange=${(text) => onChange?.(text, name)} />`;
  })}`;
}
