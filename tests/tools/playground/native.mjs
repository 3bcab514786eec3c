// Bindings with which a page of native_engine.js runs the native program, in a folder of each command.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

// Limits memory to about that of a page, whatever this computer has.
const kLimited = 'ulimit -v 4194304; exec "$0" "$@"';

/// Paths of the page, /in/... and /out/..., in a folder; also inside arguments, such as a list of chips.
const placed = (folder) => (word) => word.replace(/(^|,)\/(in|out)\//g, (_, before, side) => `${before}${path.join(folder, side)}/`);

/// Runs one command. Returns the exit code, outputs with the paths of the page, and the wanted files in base64.
function execute(program, { command, files, want }, children, onLine) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "playground-"));
  const place = placed(folder);
  for (const side of ["in", "out"]) fs.mkdirSync(path.join(folder, side));
  for (const [file, content] of Object.entries(files)) {
    let bytes = Buffer.from(content, "base64");
    if (file.endsWith(".json")) bytes = Buffer.from(bytes.toString().replaceAll('"/in/', `"${folder}/in/`));
    fs.writeFileSync(place(file), bytes);
  }
  return new Promise((resolve) => {
    const child = spawn("bash", ["-c", kLimited, program, ...command.map(place)], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    children.add(child);
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => { said[name] += text; if (name === "stderr") onLine(text); });
    child.on("close", (code) => {
      children.delete(child);
      const found = want.filter((file) => fs.existsSync(place(file)));
      const result = Object.fromEntries(found.map((file) => [file, fs.readFileSync(place(file)).toString("base64")]));
      fs.rmSync(folder, { recursive: true });
      const own = (text) => text.replaceAll(folder, "");
      resolve({ code: code ?? 1, stdout: own(said.stdout), stderr: own(said.stderr), files: result });
    });
  });
}

/// Gives a page the bindings of native_engine.js. `commands` collects what it asks.
export async function bindNative(page, program, commands = []) {
  const running = new Map();
  const childrenOf = (id) => running.get(id) ?? running.set(id, new Set()).get(id);
  await page.exposeBinding("equarxNativeRun", (source, request) => {
    commands.push(request.command);
    const report = (text) => page.evaluate(([id, line]) => window.equarxNativeProgress(id, line), [request.id, text.trim().split("\n").at(-1)]).catch(() => {});
    return execute(program, request, childrenOf(request.id), report);
  });
  await page.exposeBinding("equarxNativeCancel", (source, id) => { for (const child of childrenOf(id)) child.kill("SIGKILL"); });
}
