// Parts of every answer: verdict, facts, progress, problems, and the commands to copy.

import { html, useEffect, useState } from "./libraries.js";

/// The answer in one sentence. `kind`: yes, no, unclear or plain.
export function Verdict({ kind, word, children }) {
  return html`<div class="verdict ${kind}" role="status">
    <p class="word">${word}</p><div class="sentence">${children}</div></div>`;
}

/// Lines of names and values; lines without a value are left out.
export function Facts({ lines }) {
  return html`<dl class="lines">${lines.filter(([, value]) => value).map(([name, value, about]) => html`
    <div><dt>${name}</dt><dd>${value}${about && html`<span class="aside"> ${about}</span>`}</dd></div>`)}</dl>`;
}

/// A table with a heading for each column; numbers are right-aligned.
export function Rows({ caption, headings, rows, numeric = [] }) {
  const kind = (i) => (numeric.includes(i) ? "number" : undefined);
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}><table class="facts cards">
    <caption class="offscreen">${caption}</caption>
    <thead><tr>${headings.map((heading, i) => html`<th scope="col" class=${kind(i)}>${heading}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map((cell, i) => html`<td class=${kind(i)} data-heading=${headings[i]}>${cell}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

const kSlow = 400;  // ms after which progress appears: faster answers need none

/// Progress of a question with a button to cancel it; its end or cancellation in words.
export function Progress({ state, onCancel, onAgain }) {
  const [isSlow, setSlow] = useState(false);
  const isRunning = state.status === "running";
  useEffect(() => {
    if (!isRunning) return setSlow(false);
    const timer = setTimeout(() => setSlow(true), kSlow);
    return () => clearTimeout(timer);
  }, [isRunning]);
  if (state.status === "cancelled")
    return html`<p class="progress" role="status">Cancelled. <button type="button" onClick=${onAgain}>Ask again</button></p>`;
  if (!isRunning || !isSlow) return null;
  const { title, share, text } = state.progress ?? {};
  return html`<div class="progress" role="status">
    <span>${title ?? "Starting"}…${text ? ` ${text}` : ""}</span>
    <progress max="1" value=${share > 0 ? share : undefined} aria-label=${title ?? "progress"}></progress>
    <button type="button" onClick=${onCancel}>Cancel</button></div>`;
}

export function ProblemNote({ problem }) {
  return problem && html`<p class="note" role="alert">${problem.message}</p>`;
}

export function Notes({ notes }) {
  return notes.map((note) => html`<p class="hint">${note}</p>`);
}

/// Copies text, and confirms it. Without access to the clipboard, as on some file:// pages, selects the text instead.
export function Copy({ label, text, target }) {
  const [note, setNote] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setNote("Copied.");
    } catch {
      const shown = target && document.getElementById(target);
      if (shown) getSelection().selectAllChildren(shown);
      setNote(shown ? "Selected: copy it with Ctrl+C." : "The browser does not allow it.");
    }
    setTimeout(() => setNote(""), 4000);
  };
  return html`<button type="button" onClick=${copy}>${label}</button><output role="status">${note}</output>`;
}

const quoted = (word) => (/^[\w./:=,@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/// A command as text for a shell.
export function commandText(words) {
  return `equarx-sim ${words.map((word) => quoted(word.replace(/(^|,)\/in\//g, "$1"))).join(" ")}`;
}

/// The same question for the command line, and the link to this page with it.
export function TakeAlong({ id, words, config, files = {}, needs }) {
  const json = config && JSON.stringify(config, null, 2);
  const written = { ...(json ? { "/in/question.json": json } : {}), ...files };
  const parts = Object.entries(written).map(([path, content]) => `cat > ${path.replace("/in/", "")} <<'END'\n${content}\nEND\n`);
  const all = `${parts.join("")}${commandText(words)}`;
  return html`<details class="along"><summary>On the command line, or as a link</summary>
    ${needs && html`<p class="hint">${needs}</p>`}
    <pre id=${id} class="json" tabindex="0" aria-label="Command and configuration">${all}</pre>
    <div class="buttons"><${Copy} label="Copy command" text=${all} target=${id} />
      ${json && html`<${Copy} label="Copy configuration" text=${json} />`}
      <${Copy} label="Copy link to this question" text=${location.href} /></div>
  </details>`;
}
