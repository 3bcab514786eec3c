// The worker of the simulator, on a stand-in for its glue: files, errors, crashes, cancelling; old browsers.
import assert from "node:assert/strict";
import fs from "node:fs";

import { kPatience, open, test, withPage } from "./harness.mjs";

const kSource = ["failures", "engine"].map((name) => fs.readFileSync(new URL(`../../../tools/playground/${name}.js`, import.meta.url), "utf8"))
  .join("\n").replace(/^import .*$|^export /gm, "");

/// A page with the stand-in, and the class Engine of the product for the test.
const withEngine = (browser, use) => withPage(browser, "", async (page) => {
  await page.waitForFunction(() => document.querySelector(".answer .note, .answer .verdict"));  // the stand-in has no command run
  await page.evaluate(`(() => { ${kSource}; window.engine = new Engine(); })()`);
  await use(page);
}, { name: "mock.html" });

/// Outcomes of commands on one engine, one after the other.
const run = (page, commands, files = {}, want = []) => page.evaluate(async ([given, contents, wanted]) => {
  const outcomes = [];
  for (const command of given) {
    const progress = [];
    const onProgress = (one) => { progress.push(one); if (command[0] === "forever") window.engine.cancel(); };
    outcomes.push(await window.engine.run(command, { files: contents, want: wanted, onProgress }).then(
      (answer) => ({ ...answer, files: Object.fromEntries(Object.entries(answer.files).map(([name, bytes]) => [name, [...bytes]])), progress }),
      (error) => ({ error: error.constructor.name, message: error.message, progress })));
  }
  return outcomes;
}, [commands, files, want]);

test("short: the worker returns outputs and files, and starts anew after crashes and cancelling", (browser) =>
  withEngine(browser, async (page) => {
    const [echo, wrong, crash, again, memory, forever, last] = await run(page, [["echo", "a", "b"], ["wrong"], ["crash"], ["echo", "c"], ["memory"], ["forever"], ["echo", "d"]]);
    assert.deepEqual([echo.code, echo.stdout, echo.stderr], [0, "a b\n", ""]);
    assert.deepEqual([wrong.code, wrong.stderr], [2, "equarx-sim: error: /tensor/bytes: is wrong\n"]);
    assert.deepEqual(wrong.progress, [{ share: null, text: "equarx-sim: error: /tensor/bytes: is wrong" }]);
    assert.equal(crash.error, "EngineFailure");
    assert.match(crash.message, /^The simulator stopped, which is a defect of it; the next question starts it anew\. .*unreachable/);
    assert.equal(again.stdout, "c\n");
    assert.match(memory.message, /^The simulator ran out of the memory that the browser gives to a page\./);
    assert.deepEqual([forever.error, forever.progress], ["Cancelled", [{ share: 0.25, text: "a quarter" }]]);
    assert.equal(last.stdout, "d\n");
  }));

test("files come and go with each command", (browser) =>
  withEngine(browser, async (page) => {
    const [first] = await run(page, [["copy", "/in/a.txt", "/out/b.txt"]], { "/in/a.txt": "ä" }, ["/out/b.txt", "/out/none"]);
    assert.deepEqual(first.files, { "/out/b.txt": [0xc3, 0xa4] });
    assert.equal(first.stdout, "/in/a.txt /out/b.txt\n");
    const [second] = await run(page, [["copy", "/in/c.txt", "/out/d.txt"]], { "/in/c.txt": "1" }, ["/out/b.txt"]);
    assert.equal(second.stdout, "/in/c.txt /out/d.txt\n");  // the files of the first command are gone
    assert.deepEqual(second.files, {});
  }));

test("a worker whose memory has grown is replaced", (browser) =>
  withEngine(browser, async (page) => {
    const [first, second, third] = await run(page, [["heap"], ["heap"], ["echo"]]);
    assert.deepEqual([first.stdout, second.stdout, third.code], ["1\n", "1\n", 0]);  // each counts from the start
  }));

test("commands that wait are cancelled with the one that runs", (browser) =>
  withEngine(browser, async (page) => {
    const outcomes = await page.evaluate(() => {
      const runs = [["forever"], ["echo", "1"], ["echo", "2"]].map((command) => window.engine.run(command).then(({ stdout }) => stdout, (error) => error.constructor.name));
      setTimeout(() => window.engine.cancel(), 200);
      return Promise.all(runs);
    });
    assert.deepEqual(outcomes, ["Cancelled", "Cancelled", "Cancelled"]);
    assert.equal((await run(page, [["echo", "3"]]))[0].stdout, "3\n");
  }));

/// Makes WebAssembly of the page refuse modules of this length: those that probe a feature.
const without = (length) => (page) => page.addInitScript((refused) => {
  const { validate } = WebAssembly;
  WebAssembly.validate = (bytes) => bytes.length !== refused && validate(bytes);
}, length);
const [kSimd, kExceptions] = [31, 28];

test("an old browser gets a slower simulator with a notice, or a reason", async (browser) => {
  const kHash = "#q=tensor";
  const noteOf = async (setUp, name = "mock.html", expected = "") => {
    const page = await open(browser, kHash, { name, setUp });
    if (expected) await page.waitForURL((url) => url.pathname.endsWith(expected), { timeout: kPatience });
    const text = await page.locator("main > .note").first().textContent({ timeout: kPatience });
    assert.match(page.url(), /[#&]q=tensor/);
    await page.close();
    return text;
  };
  assert.match(await noteOf(without(kSimd), "mock.html", "/plain.html"), /^This browser cannot compute several numbers at once.*Answers are the same, but take longer/);
  assert.match(await noteOf(without(kExceptions)), /^This browser is too old for the simulator: its WebAssembly has no exceptions\./);
  assert.match(await noteOf((page) => page.addInitScript(() => { delete window.WebAssembly; })), /^This browser has no WebAssembly/);
  assert.match(await noteOf(undefined, "none.html"), /^This copy of the page has no simulator in it/);
});
