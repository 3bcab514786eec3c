// Runs commands in the program and in the playground's engine, and compares the results: values in every bit, times to
// 1e-12. Without CONFIGs: commands of commands.mjs, and every configuration of configs/experiments. Those whose values
// do not fit into the memory of a page are listed.
// Usage: node --no-experimental-fetch equal_test.mjs PROGRAM ENGINE_FOLDER [CONFIG...]
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { kCommands } from "./commands.mjs";
import { NodeEngine } from "./engine.mjs";
import { differences } from "./equal.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");
const [program, folder, ...chosen] = process.argv.slice(2);
const kMounted = ["configs", "experiments/studies", "tests/fixtures/activations"];
const kShownDifferences = 8;

const runOf = (config) => ({ words: ["run", config, "--set", "/engine=direct", "--json"] });
const shipped = () => fs.readdirSync(path.join(root, "configs/experiments")).sort().map((name) => runOf(`configs/experiments/${name}`));
const commands = chosen.length > 0 ? chosen.map(runOf) : [...kCommands, ...shipped()];

const kHash = /\b[0-9a-f]{32}\b/g;  // of all inputs, the version among them

// JSON, or cells of CSV or words of a table.
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text.trimEnd().replaceAll(kHash, "hash").split("\n").map((line) => line.split(/[\s,]+/).map((cell) => (cell === "" || isNaN(cell) ? cell : Number(cell))));
  }
}
const lacksMemory = (web) => web.code === 2 && /needs [\d.]+ [GM]iB of memory/.test(web.stderr);

// The answer of the program, with its file in place of its output.
function native({ words, file }) {
  const out = fs.mkdtempSync(path.join(os.tmpdir(), "equal-"));
  const at = words.map((word) => (word === "OUT" ? out : word));
  const { status, stdout, stderr } = spawnSync(path.resolve(program), at, { cwd: root, encoding: "utf8", maxBuffer: 1 << 30 });
  const text = file && status === 0 ? fs.readFileSync(path.join(out, file), "utf8") : stdout;
  fs.rmSync(out, { recursive: true });
  return { code: status, text, stderr };
}

function web(engine, { words, file }) {
  const { code, stdout, stderr } = engine.command(words.map((word) => (word === "OUT" ? "/out" : word)));
  return { code, text: file && code === 0 ? engine.read(`/out/${file}`) : stdout, stderr };
}

const lastLine = (text) => text.trimEnd().split("\n").at(-1).replace(/ \(relative to [^)]*\)/, "");

function compared(a, b) {
  if (a.code !== b.code) return [`exit codes ${a.code}, ${b.code}: ${lastLine(a.stderr)} | ${lastLine(b.stderr)}`];
  if (a.code !== 0) return lastLine(a.stderr) === lastLine(b.stderr) ? [] : [`${lastLine(a.stderr)} | ${lastLine(b.stderr)}`];
  return differences(parsed(a.text), parsed(b.text));
}

let failed = 0;
for (const command of commands) {
  const engine = await NodeEngine.load(folder, root, kMounted);  // a new one: memory does not shrink
  const expected = native(command);
  const begin = performance.now();
  const found = web(engine, command);
  const seconds = (performance.now() - begin) / 1000;
  const lines = lacksMemory(found) ? [] : compared(expected, found);
  const verdict = lacksMemory(found) ? "too large" : lines.length === 0 ? "equal" : "DIFFERENT";
  console.log(`${verdict}: ${command.words.join(" ")} (${found.code === 0 ? "" : `exit code ${found.code}, `}${seconds.toFixed(2)} s, ${engine.heapBytes >> 20} MiB)`);
  for (const line of lines.slice(0, kShownDifferences)) console.log(`  ${line}`);
  if (lines.length > 0) ++failed;
}
console.log(failed === 0 ? `${commands.length} commands: none differs` : `${failed} of ${commands.length} commands differ`);
process.exit(failed === 0 ? 0 : 1);
