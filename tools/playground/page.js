// The page: four questions, one at a time, each with its own simulator, settings and answer.

import { Asking, kIdle } from "./asking.js";
import { Engine } from "./engine.js";
import { standardValues } from "./fields.js";
import { html, render, useEffect, useMemo, useState } from "./libraries.js";
import { decodeLink, encodeLink } from "./link.js";
import { withMachine } from "./machines.js";
import { CollectiveQuestion, collectiveFields } from "./question_collective.js";
import { ProgramQuestion, programFields } from "./question_program.js";
import { ServingQuestion, servingFields } from "./question_serving.js";
import { TensorQuestion, tensorFields } from "./question_tensor.js";

const known = JSON.parse(document.getElementById("known").textContent);

const kQuestions = [
  { name: "collective", title: "Shall I quantize this AllReduce?", about: "Time, error and break-even of one collective on a machine of your choice.",
    fields: collectiveFields(known), View: CollectiveQuestion },
  { name: "program", title: "My HLO program", about: "What a program compiled by XLA would gain.",
    fields: programFields(known), View: ProgramQuestion },
  { name: "tensor", title: "My tensor", about: "The error of a tensor of yours in each format.", fields: tensorFields(), View: TensorQuestion },
  { name: "serving", title: "What would serving cost?", about: "Chips and formats that serve a model within limits of latency.",
    fields: servingFields(known), View: ServingQuestion },
];

const questionOf = (name) => kQuestions.find((question) => question.name === name);
const first = () => Object.fromEntries(kQuestions.map(({ name, fields }) => [name, { ...standardValues(fields), changed: {} }]));

/// Question and settings from the address. Settings of other questions are kept.
function fromAddress(before) {
  const { question, values, unread } = decodeLink(location.hash, (name) => questionOf(name)?.fields);
  const name = question ?? kQuestions[0].name;
  const { fields } = questionOf(name);
  const own = { ...standardValues(fields), changed: {}, ...values };
  const all = { ...before.values, [name]: own["/topology"] ? withMachine(own, known) : own };
  return { question: name, values: all, unread };
}

/// One question with its simulator; hidden questions keep their answers, but no worker.
function Question({ question, values, setValues, isShown }) {
  const engine = useMemo(() => new Engine(), []);
  const [state, setState] = useState(kIdle);
  const asking = useMemo(() => new Asking(engine, setState), []);
  const [isOpened, setOpened] = useState(isShown);
  useEffect(() => {
    if (isShown) setOpened(true);
    else if (isOpened && state.status !== "running") engine.cancel();
  }, [isShown]);
  return html`<section id=${`question-${question.name}`} hidden=${!isShown} aria-labelledby=${`title-${question.name}`}>
    <h2 id=${`title-${question.name}`} tabindex="-1">${question.title}</h2><p class="hint">${question.about}</p>
    ${isOpened && html`<${question.View} ...${{ known, fields: question.fields, values, setValues, state, asking, engine }} />`}</section>`;
}

const unreadText = (unread) => unread.map((text) => text.slice(0, 60)).join(", ").slice(0, 300);

/// Text about a link or a browser that the user should read.
function Warnings({ unread }) {
  const [notice, setNotice] = useState("");
  useEffect(() => { new Engine().notice().then(setNotice, (error) => setNotice(error.message)); }, []);
  return html`${notice && html`<p class="note" role="status">${notice}</p>`}
    ${unread.length > 0 && html`<p class="note" role="status">A part of the link cannot be read, and is left out: ${unreadText(unread)}</p>`}`;
}

function Page() {
  const [view, setView] = useState(() => fromAddress({ values: first() }));
  const [last, setLast] = useState(null);
  useEffect(() => {
    const restore = () => { setLast(null); setView((before) => fromAddress(before)); };
    addEventListener("popstate", restore);
    return () => removeEventListener("popstate", restore);
  }, []);
  const hashOf = (name, values) => `#${encodeLink({ question: name, values }, questionOf(name).fields)}`;
  const setValues = (name) => (given, control) => {
    const values = given["/topology"] ? withMachine(given, known) : given;
    const key = `${name} ${control}`;
    history[key === last ? "replaceState" : "pushState"](null, "", hashOf(name, values));
    setLast(key);
    setView((before) => ({ ...before, values: { ...before.values, [name]: values }, unread: [] }));
  };
  useEffect(() => {
    const title = questionOf(view.question).title;
    document.title = `${title} – equarx-sim playground`;
  }, [view.question]);
  return html`<nav aria-label="Questions">${kQuestions.map(({ name, title }) => html`
      <a href=${hashOf(name, view.values[name])} aria-current=${name === view.question ? "page" : undefined}>${title}</a>`)}</nav>
    <${Warnings} unread=${view.unread} />
    ${kQuestions.map((question) => html`<${Question} key=${question.name} question=${question} values=${view.values[question.name]}
      setValues=${setValues(question.name)} isShown=${question.name === view.question} />`)}`;
}

/// A file dropped next to its place would replace the page, and with it all settings: it goes to its place.
function catchDrops() {
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    const place = document.querySelector("main > section:not([hidden]) .drop");
    if (place && !place.contains(event.target)) place.dispatchEvent(new DragEvent("drop", { dataTransfer: event.dataTransfer, cancelable: true }));
  });
}

catchDrops();
document.getElementById("old-browser")?.remove();
render(html`<${Page} />`, document.getElementById("page"));
