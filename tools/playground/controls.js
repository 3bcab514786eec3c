// Controls of a question, from fields (fields.js).

import { problemOf } from "./fields.js";
import { powerOf, sizeOfPower } from "./figures.js";
import { html, useRef, useState } from "./libraries.js";

const idOf = (form, field) => `${form}-${field.key.replace(/\W+/g, "-")}`;

/// Label, control, description on hover and focus, and problem. `Inner` gets the attributes that join them.
function Labelled({ id, field, problem, children }) {
  return html`<div class="field ${problem ? "wrong" : ""}">
    <label for=${id}>${field.label}</label>
    ${children}
    ${field.description && html`<span class="about" id="${id}-about" role="tooltip">${field.description}</span>`}
    ${problem && html`<span class="problem" id="${id}-problem">${problem}</span>`}
  </div>`;
}

function described(id, field, problem) {
  const ids = [field.description && `${id}-about`, problem && `${id}-problem`].filter(Boolean).join(" ");
  return { id, "aria-describedby": ids || undefined, "aria-invalid": problem ? "true" : undefined };
}

function Choice({ id, field, value, onInput, problem }) {
  const groups = [...new Set(field.options.map(({ group }) => group))];
  const option = (one) => html`<option value=${one.value} selected=${one.value === value}>${one.label}</option>`;
  const members = (group) => field.options.filter((one) => one.group === group).map(option);
  return html`<select ...${described(id, field, problem)} onInput=${(event) => onInput(event.target.value)}>
    ${groups.map((group) => (group ? html`<optgroup label=${group}>${members(group)}</optgroup>` : members(group)))}
  </select>`;
}

function Text({ id, field, value, onInput, problem }) {
  const mode = ["integer", "number"].includes(field.kind) ? "decimal" : "text";
  return html`<input type="text" inputmode=${mode} spellcheck="false" autocomplete="off" value=${value}
    placeholder=${field.standard || (field.isOptional ? "optional" : "default")}
    ...${described(id, field, problem)} onInput=${(event) => onInput(event.target.value)} />`;
}

function Size({ id, field, value, onInput, problem }) {
  const [least, most] = [14, 30];
  const power = powerOf(value);
  return html`<${Text} ...${{ id, field, value, onInput, problem }} />
    <input type="range" class="slider" min=${least} max=${most} step="1" value=${power ?? least} aria-label="${field.label}, in powers of two"
      aria-valuetext=${value} onInput=${(event) => onInput(sizeOfPower(Number(event.target.value)))} />
    <span class="ends" aria-hidden="true"><span>${sizeOfPower(least)}</span><span>${sizeOfPower(most)}</span></span>`;
}

/// Several members of a set, as check boxes.
function Members({ id, field, value, onInput, problem }) {
  const toggle = (name) => onInput(field.options.map((one) => one.value).filter((one) => (one === name) !== value.includes(one)));
  return html`<fieldset class="field set ${problem ? "wrong" : ""}" ...${described(id, field, problem)}>
    <legend>${field.label}</legend>
    ${field.options.map((one) => html`<label title=${one.about}><input type="checkbox" checked=${value.includes(one.value)}
      onInput=${() => toggle(one.value)} /> ${one.label}</label>`)}
    ${field.description && html`<span class="about" id="${id}-about" role="tooltip">${field.description}</span>`}
    ${problem && html`<span class="problem" id="${id}-problem">${problem}</span>`}
  </fieldset>`;
}

/// One field. `problems`: text by key, from the simulator.
export function Control({ form, field, value, problems = {}, onInput }) {
  const id = idOf(form, field);
  const problem = problemOf(field, value) || problems[field.key];
  const common = { id, field, value, problem, onInput };
  if (field.kind === "set") return html`<${Members} ...${common} />`;
  const inner = { choice: Choice, size: Size }[field.kind] ?? Text;
  return html`<${Labelled} ...${{ id, field, problem }}><${inner} ...${common} /><//>`;
}

/// All fields of a form; those marked `further` are folded.
export function Controls({ form, fields, values, problems, onInput }) {
  const control = (field) => html`<${Control} key=${field.key} ...${{ form, field, problems }} value=${values[field.key]}
    onInput=${(value) => onInput(field, value)} />`;
  const further = fields.filter((field) => field.further);
  const isChanged = further.some((field) => values[field.key] !== field.standard);
  return html`${fields.filter((field) => !field.further).map(control)}
    ${further.length > 0 && html`<details open=${isChanged}><summary>Further settings</summary>
      <div class="further">${further.map(control)}</div></details>`}`;
}

/// Takes a file by button, drop or paste. `onFile(file)`; `onExample()` offers an example.
export function FileDrop({ id, label, hint, accept, name, problem, onFile, onExample, exampleLabel }) {
  const [isOver, setOver] = useState(false);
  const input = useRef(null);
  const take = (files) => { if (files?.length) onFile(files[0], files.length); };
  const over = (event) => { event.preventDefault(); setOver(true); };
  const drop = (event) => { event.preventDefault(); setOver(false); take(event.dataTransfer.files); };
  const choose = (event) => { take(event.target.files); event.target.value = ""; };
  const kind = `drop ${isOver ? "over" : ""} ${problem ? "wrong" : ""}`;
  return html`<div class=${kind} onDragOver=${over} onDragLeave=${() => setOver(false)} onDrop=${drop}>
    <p class="name">${label}${name ? html`: <b>${name}</b>` : ""}</p>
    <p class="buttons"><span class="pick">
        <input ref=${input} id=${id} type="file" accept=${accept} onChange=${choose} aria-describedby="${id}-hint" />
      <label for=${id}>Choose a file</label></span>
      ${exampleLabel && html`<button type="button" onClick=${onExample}>${exampleLabel}</button>`}</p>
    <p class="hint" id="${id}-hint">${hint}</p>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
  </div>`;
}
