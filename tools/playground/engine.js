// The simulator, compiled to WebAssembly, in a worker of its own, with the commands of the program equarx-sim.

import { failureText } from "./failures.js";

/// A run that was cancelled.
export class Cancelled extends Error {}

/// The simulator failed, apart from invalid input: text for the user.
export class EngineFailure extends Error {}

// Modules of a few instructions, which only a browser with the feature accepts.
const kSimdProbe = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11];
const kExceptionProbe = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 8, 1, 6, 0, 6, 64, 25, 11, 11];

const kUpdate = "Current versions of Firefox, Chrome, Edge and Safari have it.";

const part = (name) => document.getElementById(`engine-${name}`)?.textContent ?? "";
const accepts = (probe) => WebAssembly.validate(new Uint8Array(probe));

/// Selects the build for this browser, or the page that has it. Throws an EngineFailure if none can run here.
function chooseBuild() {
  if (typeof WebAssembly !== "object" || typeof Worker === "undefined")
    throw new EngineFailure(`This browser has no WebAssembly, in which the simulator runs. ${kUpdate}`);
  if (!accepts(kExceptionProbe))
    throw new EngineFailure(`This browser is too old for the simulator: its WebAssembly has no exceptions. ${kUpdate}`);
  if (accepts(kSimdProbe) && part("wasm")) return { glue: "glue", wasm: "wasm", notice: "" };
  if (part("plain-wasm"))
    return {
      glue: "plain-glue", wasm: "plain-wasm",
      notice: accepts(kSimdProbe) ? "" :
        `This browser cannot compute several numbers at once (WebAssembly SIMD). Answers are the same, but take longer. ${kUpdate}`,
    };
  if (part("plain-page")) return { page: part("plain-page") };
  if (part("wasm")) throw new EngineFailure(`This browser is too old for the simulator: its WebAssembly has no SIMD. ${kUpdate}`);
  throw new EngineFailure("This copy of the page has no simulator in it: it was assembled without one.");
}

async function prepare() {
  const build = chooseBuild();
  if (build.page) {
    location.replace(build.page + location.hash);
    return new Promise(() => {});  // until the other page replaces this one
  }
  const packed = Uint8Array.from(atob(part(build.wasm)), (letter) => letter.charCodeAt(0));
  const module = await WebAssembly.compile(fflate.gunzipSync(packed));
  const script = new Blob([part(build.glue), "\n", part("worker")], { type: "text/javascript" });
  return { module, address: URL.createObjectURL(script), notice: build.notice };
}

let prepared = null;  // shared by all engines: compiled once, as long as it succeeds

function preparedOnce() {
  prepared ??= prepare().catch((error) => { prepared = null; throw error; });
  return prepared;
}

/// One worker, which runs one command at a time; others wait for their turn.
export class Engine {
  constructor() {
    this.worker = null;
    this.current = null;
    this.turn = Promise.resolve();
    this.generation = 0;
  }

  /// Text about this browser that the user should read, or "".
  async notice() {
    return (await preparedOnce()).notice;
  }

  /// Runs a command like ["advise", "/in/a.json", "--json"]. `files`: path -> text, bytes or File, written first;
  /// `want`: paths to return; `onProgress({ share, text })` gets the lines of standard error, too. Resolves to
  /// { code, stdout, stderr, files }, with exit code 2 for invalid input. Rejects with Cancelled or EngineFailure.
  run(command, { files = {}, want = [], onProgress = () => {} } = {}) {
    const { generation } = this;
    const mine = this.turn.then(() => {
      if (generation !== this.generation) throw new Cancelled();
      return this.runNow({ command, files, want }, onProgress);
    });
    this.turn = mine.catch(() => {});
    return mine;
  }

  /// Stops the command that runs, and all that wait. The next one gets a new worker.
  cancel() {
    ++this.generation;
    this.stop(new Cancelled());
  }

  stop(error) {
    this.worker?.terminate();
    this.worker = null;
    this.current?.reject(error);
    this.current = null;
  }

  async runNow(request, onProgress) {
    const { generation } = this;
    const { module, address } = await preparedOnce();
    if (generation !== this.generation) throw new Cancelled();
    this.worker ??= this.startWorker(module, address);
    return new Promise((resolve, reject) => {
      this.current = { resolve, reject, onProgress };
      this.worker.postMessage({ request });
    });
  }

  startWorker(module, address) {
    const worker = new Worker(address);
    const isMine = () => this.worker === worker;
    worker.onmessage = ({ data }) => { if (isMine()) this.receive(data); };
    worker.onerror = (event) => {
      event.preventDefault();
      if (isMine()) this.stop(new EngineFailure(failureText(event.message ?? "the worker did not start")));
    };
    worker.onmessageerror = () => { if (isMine()) this.stop(new EngineFailure(failureText("a message was lost"))); };
    worker.postMessage({ module });
    return worker;
  }

  receive(message) {
    if (message.progress) return this.current?.onProgress(message.progress);
    if (message.failure !== undefined) return this.stop(new EngineFailure(failureText(message.failure)));
    const { resolve } = this.current;
    this.current = null;
    if (message.isLarge) {  // its memory never shrinks
      this.worker.terminate();
      this.worker = null;
    }
    resolve(message.answer);
  }
}
