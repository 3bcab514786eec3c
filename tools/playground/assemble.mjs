// Assembles the playground: one HTML file with its scripts, styles, schemas and the compiled simulator.
// Usage: node assemble.mjs --out FILE [--engine FILE] [--glue F --wasm F] [--plain-glue F --plain-wasm F]
//                          [--plain-page NAME]
//                          [--libraries FOLDER] [--version TEXT]
// --engine: script of the class Engine, default engine.js; --glue, --wasm: the simulator with SIMD; --plain-...: without;
// --plain-page: the page beside this one that has it, opened by browsers without SIMD.
import { createHash } from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import vm from "node:vm";

const here = path.dirname(fileURLToPath(import.meta.url));
const repository = path.resolve(here, "../..");
const kOptions = ["out", "engine", "glue", "wasm", "plain-glue", "plain-wasm", "plain-page", "libraries", "version"];
const { values: options } = parseArgs({ options: Object.fromEntries(kOptions.map((name) => [name, { type: "string" }])) });
if (!options.out) throw new Error("--out is missing");

const libraries = path.resolve(options.libraries ?? path.join(here, "node_modules"));
const text = (file) => fs.readFileSync(file, "utf8");
const own = (name) => text(path.join(here, name));
const library = (name) => text(path.join(libraries, name));
const shared = (name) => text(path.join(repository, name));
const json = (name) => JSON.parse(shared(name));

/// Modules of the page, each after those that it imports.
const kModules = ["libraries", "figures", "fields", "link", "files", "trace", "picture", "failures", "engine", "asking", "machines", "formats", "answer", "controls",
  "chart", "timeline", "views", "sensitivity", "question_collective", "program_details", "question_program", "question_tensor", "plan_answer", "question_serving", "page"];
const kReportScripts = ["data", "table", "marks", "ticks"];  // of the report page: units, ticks and marks of charts
const kLibraryScripts = ["preact/dist/preact.umd.js", "preact/hooks/dist/hooks.umd.js", "htm/dist/htm.umd.js", "fflate/umd/index.js", "uplot/dist/uPlot.iife.min.js"];

/// A module as a function of its own scope: imports are taken from `modules`, exports are put there.
function wrapped(name, source) {
  const exported = [...source.matchAll(/^export (?:async )?(?:function|class|const) (\w+|\{[^}]*\})/gm)].flatMap(([, names]) => names.match(/\w+/g));
  const body = source.replace(/^import (\{[^;]*?\}) from "\.\/(\w+)\.js";$/gm, "const $1 = modules.$2;").replace(/^export /gm, "");
  if (/^import /m.test(body)) throw new Error(`${name}: only imports of names of modules of the page can be assembled`);
  return `modules.${name} = (() => {\n${body}\nreturn { ${exported.join(", ")} };\n})();`;
}

function pageScript() {
  const report = kReportScripts.map((name) => shared(`tools/report/${name}.js`));
  const modules = kModules.map((name) => wrapped(name, name === "engine" && options.engine ? text(options.engine) : own(`${name}.js`)));
  const script = `"use strict";\n(() => {\nconst modules = {};\n${[...report, ...modules].join("\n")}\n})();\n`;
  new vm.Script(script, { filename: "the page's script" });  // reports syntax errors
  return script;
}

const libraryScript = () => kLibraryScripts.map((name) => library(name).replace(/^\/\/# sourceMappingURL=.*$/gm, "")).join("\n;\n");

const kLongestSource = 160;
const cut = (source) => (source?.length > kLongestSource ? `${source.slice(0, kLongestSource - 1)}…` : source);

/// A chip as the page offers it; sources are cut, as some fill a page.
function chipOf(file) {
  const { name, description, parameters, slices } = json(`configs/hardware/${file}`);
  const kept = ({ value, class: kind, range, standard_error, source }) => ({ value, class: kind, range, standard_error, source: cut(source) });
  return { name, description, slices: slices?.list ?? [], hasCubes: Boolean(slices?.cubes), hasSwitch: "switch_efficiency" in parameters,
    parameters: Object.fromEntries(Object.entries(parameters).map(([key, parameter]) => [key, kept(parameter)])) };
}

function known() {
  const names = (folder) => fs.readdirSync(path.join(repository, folder)).filter((name) => name.endsWith(".json")).sort();
  const experiment = json("configs/schema/experiment.schema.json");
  const changeable = experiment.properties.hardware.oneOf.find(({ properties }) => properties).properties;
  return {
    schemas: { experiment, plan: json("configs/schema/plan.schema.json") },
    limits: Object.fromEntries(Object.entries(changeable).filter(([, { maximum }]) => maximum !== undefined).map(([name, { maximum }]) => [name, maximum])),
    chips: names("configs/hardware").map(chipOf), models: names("configs/models").map((name) => name.replace(/\.json$/, "")),
    examples: { program: shared("configs/programs/transformer_v5e_4x4.hlo.txt"),
      tensor: fs.readFileSync(path.join(repository, "tests/fixtures/activations/layer0_keys.npy")).toString("base64") },
  };
}

/// Text inside a script element: it must not end it.
const inert = (content) => content.replaceAll("</", "<\\/").replaceAll("<!--", "<\\!--");

async function packed(file) {
  const { gzipSync } = createRequire(path.join(libraries, "fflate/package.json"))(path.join(libraries, "fflate"));
  return Buffer.from(gzipSync(new Uint8Array(fs.readFileSync(file)), { level: 9, mtime: 0 })).toString("base64");
}

async function engineParts() {
  const parts = [];
  if (options.wasm) parts.push(["worker", inert(own("worker.js"))]);
  for (const kind of ["glue", "plain-glue"]) if (options[kind]) parts.push([kind, inert(text(options[kind]))]);
  for (const kind of ["wasm", "plain-wasm"]) if (options[kind]) parts.push([kind, await packed(options[kind])]);
  if (options["plain-page"]) parts.push(["plain-page", inert(options["plain-page"])]);
  return parts.map(([name, content]) => `<script type="text/plain" id="engine-${name}">${content}</script>\n`).join("");
}

function licences() {
  const parts = [["preact", "LICENSE"], ["htm", "LICENSE"], ["fflate", "LICENSE"], ["uplot", "LICENSE"]].map(([name, file]) =>
    `${name} ${JSON.parse(library(`${name}/package.json`)).version}\n\n${library(`${name}/${file}`)}`);
  parts.push(`The example tensor is of a published model:\n\n${shared("tests/fixtures/activations/NOTICE")}`);
  return parts.join("\n\n").replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

const hashOf = (content) => `'sha256-${createHash("sha256").update(content).digest("base64")}'`;

const script = pageScript();
const scripts = { libraries: libraryScript(), script };
for (const [name, content] of Object.entries(scripts)) if (/<\/script|<!--/i.test(content)) scripts[name] = inert(content);
const style = `${shared("tools/report/page.css")}\n${library("uplot/dist/uPlot.min.css")}\n${own("page.css")}`;
const contents = {
  script_hashes: Object.values(scripts).map(hashOf).join(" "), style_hashes: hashOf(style), style, version: options.version ?? "",
  licences: licences(), known: JSON.stringify(known()).replaceAll("<", "\\u003c"), engine_parts: await engineParts(), ...scripts,
};
const page = own("page.html").replace(/\{\{(\w+)\}\}/g, (_, name) => contents[name]);
fs.mkdirSync(path.dirname(path.resolve(options.out)), { recursive: true });
fs.writeFileSync(options.out, page);
console.error(`${options.out}: ${(page.length / 2 ** 20).toFixed(1)} MiB`);
