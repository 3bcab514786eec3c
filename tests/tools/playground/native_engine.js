// Stands in for the compiled simulator: the same class Engine, which passes commands to the native program by
// bindings of the test (native.mjs).

export class Cancelled extends Error {}
export class EngineFailure extends Error {}

const toBase64 = (bytes) => {
  let letters = "";
  for (let i = 0; i < bytes.length; i += 32768) letters += String.fromCharCode(...bytes.subarray(i, i + 32768));
  return btoa(letters);
};
const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

async function encoded(content) {
  if (typeof content === "string") return toBase64(new TextEncoder().encode(content));
  return toBase64(content instanceof Blob ? new Uint8Array(await content.arrayBuffer()) : content);
}

async function mapValues(object, change) {
  return Object.fromEntries(await Promise.all(Object.entries(object).map(async ([key, value]) => [key, await change(value)])));
}

let engines = 0;
const listeners = new Map();
window.equarxNativeProgress = (id, text) => listeners.get(id)?.({ share: null, text });

export class Engine {
  constructor() {
    this.id = ++engines;
    this.turn = Promise.resolve();
    this.generation = 0;
    this.reject = null;
  }

  async notice() {
    return "";
  }

  run(command, { files = {}, want = [], onProgress = () => {} } = {}) {
    const { generation } = this;
    const mine = this.turn.then(() => {
      if (generation !== this.generation) throw new Cancelled();
      return this.runNow(command, files, want, onProgress);
    });
    this.turn = mine.catch(() => {});
    return mine;
  }

  async runNow(command, files, want, onProgress) {
    listeners.set(this.id, onProgress);
    const request = { id: this.id, command, want, files: await mapValues(files, encoded) };
    const answer = await new Promise((resolve, reject) => {
      this.reject = reject;
      window.equarxNativeRun(request).then(resolve, (error) => reject(new EngineFailure(String(error.message))));
    });
    return { ...answer, files: await mapValues(answer.files, fromBase64) };
  }

  cancel() {
    ++this.generation;
    window.equarxNativeCancel(this.id);
    this.reject?.(new Cancelled());
  }
}
