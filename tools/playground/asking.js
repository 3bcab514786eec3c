// A question to the simulator, in stages: the first answers fast, later ones refine. The newest question wins.

import { Cancelled } from "./engine.js";

const kPatience = 250;  // ms for which a stage may go on after a newer question

/// An answer of the simulator to invalid input, or its failure: text, and the key it is about.
export class Problem extends Error {
  constructor(text, key = "") {
    super(text);
    this.key = key;
  }
}

/// "equarx-sim: error: /in/q.json: /tensor/bytes: is missing" -> the message, and its key "/tensor/bytes".
export function problemIn(stderr) {
  const line = stderr.split("\n").filter((one) => /error: /.test(one)).at(-1) ?? (stderr.trim() || "no reason is given");
  const text = line.replace(/^equarx-sim: /, "").replace(/^error: /, "").replaceAll("/in/", "");
  const key = /(?:^|: )(\/[\w/-]+): /.exec(text)?.[1] ?? "";
  return new Problem(text.replace(/^question\.json: /, ""), key);
}

/// Notes and warnings of a successful run.
export function notesIn(stderr) {
  return stderr.split("\n").filter((line) => /(note|warning): /.test(line))
    .map((line) => line.replace(/^equarx-sim: /, "").replaceAll("/in/", ""));
}

const kIdle = { status: "idle", results: {}, notes: [], progress: null, problem: null, isStale: false };

/// Status: idle, running, done, cancelled or failed. Results of the last question stay, as stale, until the first new one.
export class Asking {
  /// `onChange(state)` gets every change of state.
  constructor(engine, onChange) {
    this.engine = engine;
    this.onChange = onChange;
    this.state = kIdle;
    this.waiting = null;
    this.timer = null;
    this.isRunning = false;
  }

  update(changes) {
    this.state = { ...this.state, ...changes };
    this.onChange(this.state);
  }

  /// Asks in stages: [{ name, title, command(results), files(results), want, read(answer), isNeeded(results) }].
  ask(stages) {
    this.waiting = stages;
    if (this.isRunning) {
      this.timer ??= setTimeout(() => this.engine.cancel(), kPatience);
      return;
    }
    this.next();
  }

  cancel() {
    this.waiting = null;
    if (this.isRunning) this.engine.cancel();
  }

  async next() {
    const stages = this.waiting;
    this.waiting = null;
    if (!stages) return;
    this.isRunning = true;
    this.update({ status: "running", problem: null, progress: null, isStale: true });
    const changes = await this.runAll(stages);
    clearTimeout(this.timer);
    this.timer = null;
    this.isRunning = false;
    this.update({ ...changes, progress: null });
    this.next();
  }

  async runAll(stages) {
    let results = {};
    let notes = [];
    try {
      for (const stage of stages) {
        if (this.waiting) break;
        if (stage.isNeeded && !stage.isNeeded(results)) continue;
        const answer = await this.runOne(stage, results);
        notes = [...new Set([...notes, ...notesIn(answer.stderr)])];
        results = { ...results, [stage.name]: stage.read(answer, results) };
        this.update({ results, notes, isStale: false });
      }
      return { status: "done" };
    } catch (error) {
      if (error instanceof Cancelled) return { status: "cancelled" };
      return { status: "failed", problem: error instanceof Problem ? error : new Problem(error.message) };
    }
  }

  async runOne(stage, results) {
    this.update({ progress: { title: stage.title, share: null, text: "" } });
    const answer = await this.engine.run(stage.command(results), {
      files: stage.files?.(results) ?? {}, want: stage.want ?? [],
      onProgress: ({ share, text }) => this.update({ progress: { title: stage.title, share, text } }),
    });
    if (answer.code !== 0) throw problemIn(answer.stderr);
    return answer;
  }
}
