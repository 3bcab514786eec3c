// A question to the simulator, in stages: the first answers fast, later ones refine. The newest question wins.

import { Cancelled } from "./engine.js";
import { failureText, isNoMemory } from "./failures.js";

const kPatience = 250;  // ms for which a fast stage may go on after a newer question
const kQuiet = 350;     // ms without a newer question before a slow stage begins

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
  if (isNoMemory(text)) return new Problem(failureText(text));
  const key = /(?:^|: )(\/[\w/-]+): /.exec(text)?.[1] ?? "";
  return new Problem(text.replace(/^question\.json: /, ""), key);
}

/// Notes and warnings of a successful run.
export function notesIn(stderr) {
  return stderr.split("\n").filter((line) => /(note|warning): /.test(line))
    .map((line) => line.replace(/^equarx-sim: /, "").replaceAll("/in/", ""));
}

/// Progress of a stage from a share, or from a line of the simulator such as "equarx-sim: sweep: 44 %, 13 s left"; null for
/// other lines.
export function progressOf(title, { share, text }) {
  if (/(error|note|warning): /.test(text)) return null;
  const percent = /(?:^|\D)(\d{1,3}) %/.exec(text);
  const read = percent ? Math.min(Number(percent[1]) / 100, 1) : null;
  return { title, share: share ?? read, text: text.trim().replace(/^equarx-sim: /, "").slice(0, 120) };
}

/// Status: idle, running, done, cancelled or failed. `results` are of the newest question as soon as it has one, and
/// stale until then; `before`: the last result of each stage, to show until the next.
export const kIdle = { status: "idle", results: {}, before: {}, notes: [], progress: null, problem: null, isStale: false };

export class Asking {
  /// `onChange(state)` gets every change of state.
  constructor(engine, onChange) {
    Object.assign(this, { engine, onChange, state: kIdle, waiting: null, stage: null, isRunning: false, wake: () => {} });
  }

  update(changes) {
    this.state = { ...this.state, ...changes };
    this.onChange(this.state);
  }

  /// Asks in stages: [{ name, title, command(results), files(results), want, read(answer), isNeeded(results), isSlow,
  /// canFail(problem) }]. A stage that may fail has the result null, and its problem as the result `nameProblem`.
  ask(stages) {
    this.waiting = stages;
    if (!this.isRunning) return this.next();
    this.wake();
    if (this.stage?.isSlow) this.engine.cancel();
    else this.timer ??= setTimeout(() => this.engine.cancel(), kPatience);
    return undefined;
  }

  cancel() {
    this.waiting = null;
    if (!this.isRunning) return;
    this.isCancelled = true;
    this.wake();
    this.engine.cancel();
  }

  async next() {
    const stages = this.waiting;
    this.waiting = null;
    if (!stages) return;
    this.isRunning = true;
    this.isCancelled = false;
    this.update({ status: "running", problem: null, progress: null, isStale: true });
    const changes = await this.runAll(stages);
    clearTimeout(this.timer);
    this.timer = null;
    this.stage = null;
    this.isRunning = false;
    this.update({ ...changes, progress: null });
    this.next();
  }

  /// Waits for a while without newer questions. Returns false if one came.
  async isQuiet() {
    await new Promise((resolve) => {
      this.wake = resolve;
      setTimeout(resolve, kQuiet);
    });
    return !this.waiting;
  }

  async runAll(stages) {
    let results = {};
    let notes = [];
    try {
      for (const stage of stages) {
        if (this.waiting) break;
        if (stage.isNeeded && !stage.isNeeded(results)) {
          results = { ...results, [stage.name]: null };
          continue;
        }
        if (stage.isSlow && !(await this.isQuiet())) break;
        const answer = await this.runOne(stage, results).catch((error) => {
          if (!stage.canFail?.(error)) throw error;
          return { error };
        });
        notes = [...new Set([...notes, ...notesIn(answer.stderr ?? "")])];
        results = { ...results, [stage.name]: answer.error ? null : stage.read(answer, results), [`${stage.name}Problem`]: answer.error };
        this.update({ results, before: { ...this.state.before, ...results }, notes, isStale: false });
      }
      return { status: "done" };
    } catch (error) {
      if (error instanceof Cancelled) return { status: "cancelled" };
      return { status: "failed", problem: error instanceof Problem ? error : new Problem(error.message) };
    }
  }

  async runOne(stage, results) {
    if (this.isCancelled) throw new Cancelled();
    this.stage = stage;
    this.update({ progress: { title: stage.title, share: null, text: "" } });
    const answer = await this.engine.run(stage.command(results), {
      files: stage.files?.(results) ?? {}, want: stage.want ?? [],
      onProgress: (report) => {
        const progress = progressOf(stage.title, report);
        if (progress) this.update({ progress });
      },
    });
    if (answer.code !== 0) throw problemIn(answer.stderr);
    return answer;
  }
}
