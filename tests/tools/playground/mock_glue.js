// Stands in for the glue of the compiled simulator: files in memory, and commands that test the worker.

function createEquarxEngine({ print, printErr, equarxProgress, instantiateWasm }) {
  const files = new Map();
  const folders = new Set(["/"]);
  const FS = {
    analyzePath: (path) => ({ exists: files.has(path) || folders.has(path) }),
    mkdir: (path) => folders.add(path),
    readdir: (folder) => [".", "..", ...[...files.keys()].filter((path) => path.startsWith(`${folder}/`)).map((path) => path.slice(folder.length + 1))],
    stat: () => ({ mode: 0 }),
    isDir: () => false,
    unlink: (path) => files.delete(path),
    writeFile: (path, content) => files.set(path, typeof content === "string" ? new TextEncoder().encode(content) : content),
    readFile: (path) => files.get(path).slice(),
  };
  const commands = {
    echo: (words) => { print(words.join(" ")); return 0; },
    wrong: () => { printErr("equarx-sim: error: /tensor/bytes: is wrong"); return 2; },
    crash: () => { throw new WebAssembly.RuntimeError("unreachable"); },
    memory: () => { throw new Error("Aborted(Cannot enlarge memory arrays to size 2147483648 bytes)"); },
    copy: ([from, to]) => { FS.writeFile(to, FS.readFile(from)); print([...files.keys()].sort().join(" ")); return 0; },
    forever: () => { equarxProgress(0.25, "a quarter"); for (;;); },
    heap: () => { engine.HEAPU8 = { length: 2 ** 31 }; print(String(++count)); return 0; },
  };
  let count = 0;
  const engine = { FS, command: ([name, ...words]) => commands[name]?.(words) ?? (printErr(`equarx-sim: error: no command ${name}`), 2) };
  return new Promise((resolve) => instantiateWasm({}, () => resolve(engine)));
}
