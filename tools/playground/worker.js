// Runs in the worker, after the glue of the compiled simulator: commands in, answers out.

const kLargestHeap = 2 ** 30;  // bytes; the worker is replaced after a command that needed more
const kFolders = ["/in", "/out"];

let starting = null;
let lines = { stdout: [], stderr: [] };

function start(module) {
  return createEquarxEngine({
    print: (line) => lines.stdout.push(line),
    printErr: noteError,
    equarxProgress: (share, text) => postMessage({ progress: { share, text } }),
    instantiateWasm(imports, receive) {
      WebAssembly.instantiate(module, imports).then((instance) => receive(instance, module), fail);
      return {};
    },
  });
}

/// Keeps a line of standard error, and passes it on at once: it may be progress.
function noteError(line) {
  lines.stderr.push(line);
  postMessage({ progress: { share: null, text: line } });
}

function clear(files, folder) {
  for (const name of files.readdir(folder).filter((one) => one !== "." && one !== "..")) {
    const path = `${folder}/${name}`;
    if (!files.isDir(files.stat(path).mode)) files.unlink(path);
  }
}

async function write(files, contents) {
  for (const folder of kFolders) {
    if (!files.analyzePath(folder).exists) files.mkdir(folder);
    clear(files, folder);
  }
  for (const [path, content] of Object.entries(contents))
    files.writeFile(path, content instanceof Blob ? new Uint8Array(await content.arrayBuffer()) : content);
}

function read(files, paths) {
  const found = paths.filter((path) => files.analyzePath(path).exists);
  return Object.fromEntries(found.map((path) => [path, files.readFile(path)]));
}

async function run({ command, files, want }) {
  const engine = await starting;
  await write(engine.FS, files);
  lines = { stdout: [], stderr: [] };
  const code = engine.command(command);
  const answer = { code, stdout: text(lines.stdout), stderr: text(lines.stderr), files: read(engine.FS, want) };
  kFolders.forEach((folder) => clear(engine.FS, folder));
  const isLarge = engine.HEAPU8 !== undefined && engine.HEAPU8.length > kLargestHeap;
  postMessage({ answer, isLarge }, Object.values(answer.files).map(({ buffer }) => buffer));
}

const text = (all) => all.map((line) => `${line}\n`).join("");

function fail(error) {
  const reason = [error?.name, error?.message ?? error].filter(Boolean).join(": ");
  postMessage({ failure: lines.stderr.length ? `${reason}; ${lines.stderr.at(-1)}` : reason });
}

onmessage = ({ data }) => {
  if (data.module) {
    starting = start(data.module);
    starting.catch(fail);
  } else {
    run(data.request).catch(fail);
  }
};
