// Tests of the page's logic without a browser. Run by: node --test logic_test.mjs
import assert from "node:assert/strict";
import fs from "node:fs";
import test from "node:test";

const source = (name) => import(`../../../tools/playground/${name}.js`);
const read = (file) => JSON.parse(fs.readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8"));

const { decodeLink, encodeLink } = await source("link");
const { fieldOf, fieldsBelow, problemOf, setAt } = await source("fields");
const { contentProblem, innerPath, kFileKinds, sizeProblem } = await source("files");
const { decibelText, multiplied, numberText, parameterName, powerOf, sizeOfPower, sizeText, speedupText, timeText } = await source("figures");
const { machinesOf, standardMachine, topologyOf, withMachine } = await source("machines");
const { notesIn, problemIn, progressOf } = await source("asking");
const { failureText } = await source("failures");
const { readPicture, lineOf } = await source("picture");
const { allMessages, neighbourMoment, readTrace, spanAt } = await source("trace");

const experiment = read("configs/schema/experiment.schema.json");

const kFields = [
  { key: "/hardware", kind: "choice", standard: "tpu-v5e", options: [{ value: "tpu-v5e" }, { value: "h100" }] },
  { key: "/tensor/bytes", kind: "size", standard: "32 MiB" },
  { key: "formats", kind: "set", standard: ["int8"], options: [{ value: "int8" }, { value: "fp8-e4m3" }, { value: "int4" }] },
];
const fieldsOf = (name) => (name === "collective" ? kFields : undefined);

test("a link holds the settings that differ, and gives them back", () => {
  const values = { "/hardware": "h100", "/tensor/bytes": "1.5 GiB", formats: ["int8", "int4"], changed: { "/hardware/link_bandwidth": "90 GB/s" } };
  const hash = encodeLink({ question: "collective", values }, kFields);
  assert.equal(hash, "q=collective&/hardware=h100&/tensor/bytes=1.5%20GiB&formats=int8%2Cint4&set:/hardware/link_bandwidth=90%20GB/s");
  assert.deepEqual(decodeLink(`#${hash}`, fieldsOf), { question: "collective", values, unread: [] });
  const standard = Object.fromEntries(kFields.map(({ key, standard: value }) => [key, value]));
  assert.equal(encodeLink({ question: "collective", values: standard }, kFields), "q=collective");
});

test("texts with signs of addresses survive a link", () => {
  for (const text of ["a+b", "50 %", "x&y=z#w", "ä µs “”", "a,b", "<script>", "\\ ' \""]) {
    const hash = encodeLink({ question: "collective", values: { "/tensor/bytes": text } }, kFields);
    assert.equal(decodeLink(`#${hash}`, fieldsOf).values["/tensor/bytes"], text);
  }
});

test("broken links are read as far as possible, and the rest is listed", () => {
  assert.deepEqual(decodeLink("", fieldsOf), { question: null, values: {}, unread: [] });
  assert.deepEqual(decodeLink("#q=none&/hardware=h100", fieldsOf), { question: null, values: {}, unread: ["q=none"] });
  const { values, unread } = decodeLink("#q=collective&/hardware=abacus&formats=int8,int9&/tensor/bytes=8 KiB&else=1&set:no=1&%E0%A4%A", fieldsOf);
  assert.deepEqual(values, { "/tensor/bytes": "8 KiB", changed: {} });
  assert.equal(unread.length, 5);
  assert.deepEqual(decodeLink(`#q=collective&/tensor/bytes=${"9".repeat(5000)}`, fieldsOf).values, { changed: {} });
});

test("fields have the options, defaults, limits and descriptions of the schema", () => {
  const dtype = fieldOf(experiment, "/tensor/dtype");
  assert.deepEqual([dtype.kind, dtype.standard, dtype.label], ["choice", "bf16", "Dtype"]);
  assert.ok(dtype.options.some(({ value }) => value === "fp8-e4m3") && dtype.description.length > 20);
  const samples = fieldOf(experiment, "/uncertainty/samples", { label: "Samples" });
  assert.deepEqual([samples.kind, samples.standard, samples.least, samples.most, samples.label], ["integer", "200", 10, 100000, "Samples"]);
  assert.deepEqual(fieldOf(experiment, "/wire_buffers").options[0], { value: "", label: "default" });
  assert.deepEqual(fieldsBelow(experiment, "/tensor/values", ["tensor"]).map(({ key }) => key),
    ["/tensor/values/distribution", "/tensor/values/seed", "/tensor/values/ranks"]);
  assert.throws(() => fieldOf(experiment, "/tensor/none"), /no key/);
});

test("values outside the limits are refused before the simulator reads them", () => {
  const samples = fieldOf(experiment, "/uncertainty/samples");
  for (const [value, problem] of [["200", ""], ["9", "At least 10."], ["1e9", "At most 100000."], ["1.5", "“1.5” is not a whole number."], ["many", "“many” is not a number."], ["", "Give a value, such as 200."]])
    assert.equal(problemOf(samples, value), problem, value);
  assert.equal(problemOf(kFields[1], "any unit"), "");  // the simulator lists the units
  assert.match(problemOf({ kind: "set", label: "Formats" }, []), /at least one/);
});

test("a configuration is made of pointers", () => {
  assert.deepEqual(setAt(setAt({ a: { b: 1 } }, "/a/c", 2), "/d", 3), { a: { b: 1, c: 2 }, d: 3 });
});

test("figures have units and four digits", () => {
  assert.deepEqual([0, 3.77e-4, 1.5e-9, 12, 59.9996e-6, null, NaN].map(timeText), ["0 s", "377.0 us", "1.500 ns", "12.00 s", "60.00 us", "unknown", "unknown"]);
  assert.deepEqual([0, 1, 1024, 33554432, 1536 * 2 ** 20, 100].map(sizeText), ["0 B", "1 B", "1 KiB", "32 MiB", "1.500 GiB", "100 B"]);
  assert.deepEqual([1.8757, 1, undefined].map(speedupText), ["1.88x", "1.00x", "unknown"]);
  assert.deepEqual([36.04, null].map(decibelText), ["36.0 dB", "exact"]);
  assert.deepEqual([0, 8019.5, 1234567, 1e9, 1e-6].map((value) => numberText(value)), ["0", "8,020", "1,234,567", "1.000e+9", "1.000e-6"]);
});

test("a parameter is multiplied in its own unit", () => {
  assert.equal(multiplied("45 GB/s", 2), "90 GB/s");
  assert.equal(multiplied("45 GB/s", 2 ** 0.05), "46.59 GB/s");
  assert.equal(multiplied("0.97", 2, 1), "1");
  assert.equal(multiplied("$1.2/h", 0.5), "$0.6/h");
  assert.equal(multiplied("many", 2), null);
  assert.equal(parameterName("hbm_efficiency"), "HBM efficiency");
});

test("the slider of sizes has powers of two, and leaves other texts alone", () => {
  assert.deepEqual([14, 20, 25, 30].map(sizeOfPower), ["16 KiB", "1 MiB", "32 MiB", "1 GiB"]);
  assert.deepEqual(["16 KiB", "32 MiB", "1 GiB", "1.5 MiB", " 2MiB ", "32 MB", "0 MiB", "many", ""].map(powerOf), [14, 25, 30, 21, 21, null, null, null, null]);
});

test("files are refused by size before they are read, and by their first bytes", () => {
  assert.match(sizeProblem("program", { name: "a.txt", size: 2 ** 30 }), /^a\.txt has 1,024 MiB, but this page reads at most 256 MiB/);
  assert.equal(sizeProblem("program", { name: "a.txt", size: kFileKinds.program.most }), "");
  assert.match(sizeProblem("tensor", { name: "a.npy", size: 0 }), /is empty/);
  const bytes = (text) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  assert.equal(contentProblem("program", "a", bytes("HloModule jit_f")), "");
  assert.match(contentProblem("program", "a", bytes("\x93NUMPY")), /My tensor/);
  assert.match(contentProblem("program", "a", bytes("\x0a\x07main\x00")), /is not text/);
  assert.match(contentProblem("program", "a.gz", bytes("\x1f\x8b\x08")), /gunzip/);
  assert.match(contentProblem("tensor", "a.npz", bytes("PK\x03\x04")), /ZIP/);
  assert.equal(contentProblem("tensor", "a", bytes("\x93NUMPY\x01")), "");
  assert.equal(contentProblem("tensor", "a", bytes("\x40\x00\x00\x00\x00\x00\x00\x00{")), "");
  assert.match(contentProblem("tensor", "a.txt", bytes("HloModule")), /neither/);
  assert.equal(innerPath("../a b/ü.npy"), "/in/.._a_b__.npy");
});

test("errors of the simulator name the key, and notes are kept", () => {
  const problem = problemIn("equarx-sim: 5 %\nequarx-sim: error: /in/question.json: /tensor/bytes: unknown unit \"XB\"\n");
  assert.deepEqual([problem.message, problem.key], ["/tensor/bytes: unknown unit \"XB\"", "/tensor/bytes"]);
  assert.equal(problemIn("").message, "no reason is given");
  assert.match(problemIn("equarx-sim: error: std::bad_alloc\n").message, /^The simulator ran out of the memory that the browser gives/);
  assert.match(failureText("RangeError: Array buffer allocation failed"), /ran out of the memory/);
  assert.match(failureText("RuntimeError: unreachable"), /a defect of it.*unreachable/);
  assert.equal(problemIn("Killed").message, "Killed");
  assert.deepEqual(notesIn("equarx-sim: note: a (2 x)\nequarx-sim: 3 %\n"), ["note: a (2 x)"]);
});

test("lines of standard error become progress", () => {
  assert.deepEqual(progressOf("A", { share: null, text: "equarx-sim: plan: 44 %, 13 s left\n" }), { title: "A", share: 0.44, text: "plan: 44 %, 13 s left" });
  assert.deepEqual(progressOf("A", { share: 0.5, text: "half" }), { title: "A", share: 0.5, text: "half" });
  assert.deepEqual(progressOf("A", { share: null, text: "equarx-sim: sample 5 of 22" }).share, null);
  assert.equal(progressOf("A", { share: null, text: "equarx-sim: error: 5 % is wrong" }), null);
  assert.equal(progressOf("A", { share: null, text: "equarx-sim: note: a" }), null);
});

test("machines are those of the chip", () => {
  const tpu = { name: "tpu-v5e", slices: ["1x1", "2x2", "2x4"] };
  const gpu = { name: "h100", slices: [], hasSwitch: true };
  const known = { chips: [tpu, gpu] };
  assert.deepEqual(machinesOf(tpu), [{ value: "2x2", label: "4 chips, slice 2x2" }, { value: "2x4", label: "8 chips, slice 2x4" }]);
  assert.equal(standardMachine(gpu), "switch:8");
  assert.deepEqual([topologyOf("2x4"), topologyOf("switch:8")], [{ slice: "2x4" }, { switch: 8 }]);
  assert.equal(withMachine({ "/hardware": "h100", "/topology": "2x4" }, known)["/topology"], "switch:8");
  assert.equal(withMachine({ "/hardware": "tpu-v5e", "/topology": "2x2" }, known)["/topology"], "2x2");
});

test("a trace becomes transfers of link directions", () => {
  const event = (tid, ts, dur) => ({ ph: "X", pid: 9, tid, ts, dur, args: { content: "payload", bytes: 1 } });
  const name = (pid, tid, text) => ({ ph: "M", name: "thread_name", pid, tid, args: { name: text } });
  const trace = readTrace(JSON.stringify({
    traceEvents: [name(1, 1, "core"), name(9, 1, "(0,0)->(0,1)"), name(9, 2, "(0,0)->(0,1) (2)"), name(9, 3, "(0,1)->(0,0)"),
      event(1, 20, 10), event(1, 0, 10), event(2, 5, 2), { ph: "X", pid: 1, tid: 1, ts: 0, dur: 9, args: {} }],
    otherData: { runs: [{ label: "a", time_s: 40e-6, links_pid: 9 }] },
  }));
  assert.deepEqual(trace.links.map(({ from, to, spans }) => [from, to, spans.map(({ start }) => start)]), [["(0,0)", "(0,1)", [0, 5, 20]], ["(0,1)", "(0,0)", []]]);
  const at = (time) => spanAt(trace.links[0], time)?.start;
  assert.deepEqual([-1, 0, 6, 8, 10, 19.9, 20, 30].map(at), [undefined, 0, 5, 0, undefined, undefined, 20, undefined]);
  assert.deepEqual([neighbourMoment(trace, 0, 1), neighbourMoment(trace, 20, 1), neighbourMoment(trace, 20, -1), neighbourMoment(trace, 0, -1)], [5, 40, 5, 0]);
  assert.equal(trace.activity.filter(Boolean).length, trace.activity.length / 2);
});

test("messages are counted on all chips", () => {
  assert.equal(allMessages({ messages: 2016, simulation_reason: "3 of 8 chips simulated" }), 5376);
  assert.equal(allMessages({ messages: 10, simulation_reason: "full: asked for" }), 10);
  assert.equal(allMessages({ messages: 10 }), 10);
});

test("links lie on their own side of a cable, and wraparounds are stubs", () => {
  const chip = (x) => ({ x, y: 0, width: 20, height: 10 });
  const picture = { chips: new Map([["a", chip(0)], ["b", chip(100)], ["c", chip(200)]]),
    cables: [[{ x: 0, y: 0 }, { x: 100, y: 0 }], [{ x: 100, y: 0 }, { x: 200, y: 0 }], [{ x: 0, y: 0 }, { x: -30, y: 0 }], [{ x: 200, y: 0 }, { x: 230, y: 0 }]] };
  assert.deepEqual(lineOf(picture, "a", "b"), { x1: 0, y1: 3.5, x2: 100, y2: 3.5 });
  assert.equal(lineOf(picture, "b", "a").y1, -3.5);
  assert.equal(lineOf(picture, "a", "c").x2, -30);
  assert.equal(lineOf(picture, "c", "a").x2, 230);
  assert.equal(lineOf(picture, "a", "none"), null);
  assert.equal(typeof readPicture, "function");
});
