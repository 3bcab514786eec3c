// Runs configurations in the program and in the playground's engine and compares the results.
// Usage: node equal_test.mjs PROGRAM ENGINE_FOLDER CONFIG...; environment: NODE_PATH is not needed.
import { execFileSync, spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { NodeEngine } from "./engine.mjs";
import { differences } from "./equal.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");
const [program, folder, ...configs] = process.argv.slice(2);

let failed = 0;
for (const config of configs) {
  // One engine each: memory does not shrink.
  const engine = await NodeEngine.load(folder, root, ["configs", "experiments/studies"]);
  const words = ["run", config, "--json"];
  const native = spawnSync(path.resolve(program), [...words, "--set", "/engine=direct"],
                           { cwd: root, encoding: "utf8", maxBuffer: 1 << 30 });
  const begin = process.hrtime.bigint();
  const web = engine.command([...words, "--set", "/engine=direct"]);
  const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
  let found;
  if (native.status !== web.code) found = [`exit code ${native.status}, ${web.code}: ${web.stderr.split("\n").at(-1)}`];
  else if (native.status !== 0) found = native.stderr === web.stderr + "\n" ? [] : [`${native.stderr} ${web.stderr}`];
  else found = differences(JSON.parse(native.stdout), JSON.parse(web.stdout));
  console.log(`${found.length === 0 ? "equal" : "DIFFERENT"}: ${config}, ${seconds.toFixed(2)} s, ` +
              `${(engine.heapBytes / 2 ** 20).toFixed(0)} MiB`);
  for (const line of found.slice(0, 8)) console.log(`  ${line}`);
  if (found.length > 0) ++failed;
}
process.exit(failed === 0 ? 0 : 1);
