// The engine of the playground in Node.js, with files of this repository in its memory.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(import.meta.url);

// An engine with the folders `mounted` of `root` at "/repository".
export class NodeEngine {
  static async load(folder, root, mounted) {
    const engine = new NodeEngine();
    engine.stdout = [];
    engine.stderr = [];
    const glue = fs.readFileSync(path.join(folder, "engine.js"), "utf8");
    const create = new Function("require", "__dirname", "__filename", `${glue}; return createEquarxEngine;`)(
      require, path.resolve(folder), path.resolve(folder, "engine.js"));
    engine.module = await create({
      wasmBinary: fs.readFileSync(path.join(folder, "engine.wasm")),
      print: (line) => engine.stdout.push(line),
      printErr: (line) => engine.stderr.push(line),
    });
    // Emscripten rethrows what nobody catches.
    for (const event of ["uncaughtException", "unhandledRejection"]) process.removeAllListeners(event);
    for (const name of mounted) engine.#copy(path.join(root, name), `/repository/${name}`);
    engine.module.FS.chdir("/repository");
    return engine;
  }

  #copy(from, to) {
    if (fs.statSync(from).isDirectory()) {
      this.module.FS.mkdirTree(to);
      for (const name of fs.readdirSync(from)) this.#copy(path.join(from, name), `${to}/${name}`);
    } else {
      this.module.FS.mkdirTree(path.posix.dirname(to));
      this.module.FS.writeFile(to, fs.readFileSync(from));
    }
  }

  // Runs a command; { code, stdout, stderr }.
  command(words) {
    this.stdout = [];
    this.stderr = [];
    const code = this.module.command(words);
    return { code, stdout: this.stdout.join("\n"), stderr: this.stderr.join("\n") };
  }

  read(file) { return this.module.FS.readFile(file, { encoding: "utf8" }); }

  get heapBytes() { return this.module.HEAP8.length; }
}
