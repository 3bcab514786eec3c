// The page around the questions: links, history, bad files, privacy, accessibility, phones.
import assert from "node:assert/strict";
import fs from "node:fs";

import { file, finished, hash, kPhone, open, require, shown, test, verdict, wasmPage, withPage, word } from "./harness.mjs";

const size = (page) => shown(page).getByLabel("Tensor on each chip", { exact: true });

test("short: a link round trip gives the same question and answer, and Back undoes choices", (browser) =>
  withPage(browser, "", async (page) => {
    await size(page).fill("2 MiB");
    await shown(page).getByLabel("fp8-e4m3", { exact: true }).uncheck();
    await page.waitForFunction(() => location.hash.includes("formats=int8"));
    const address = await hash(page);
    assert.equal(address, "#q=collective&/tensor/bytes=2%20MiB&formats=int8");
    await finished(page);
    const text = await verdict(page).textContent();
    await page.goBack();
    await page.waitForFunction(() => !location.hash.includes("formats"));
    assert.ok(await shown(page).getByLabel("fp8-e4m3", { exact: true }).isChecked());
    assert.equal(await size(page).inputValue(), "2 MiB");
    await page.goBack();  // typing is one step
    await page.waitForFunction(() => location.hash === "");
    assert.equal(await size(page).inputValue(), "32 MiB");
    await page.goForward();
    await page.goForward();
    await page.waitForFunction((wanted) => location.hash === wanted, address);
    await page.goto("about:blank");
    await page.goto(page.address + address);
    assert.equal(await size(page).inputValue(), "2 MiB");
    await verdict(page).locator("b").first().waitFor();
    await finished(page);
    assert.equal(await verdict(page).textContent(), text);
  }));

test("a change of the question keeps settings, files and answers of the others", (browser) =>
  withPage(browser, "#q=tensor&formats=int8", async (page) => {
    await shown(page).getByRole("button", { name: "Use an example" }).click();
    const text = await verdict(page).textContent();
    await page.getByRole("link", { name: "What would serving cost?" }).click();
    await shown(page).getByLabel("Output (tokens)").fill("512");
    await page.getByRole("link", { name: "My tensor" }).click();
    assert.equal(await verdict(page).textContent(), text);
    await page.goBack();
    await page.waitForFunction(() => location.hash.startsWith("#q=serving"));
    assert.equal(await shown(page).getByLabel("Output (tokens)").inputValue(), "512");
    assert.match(await page.title(), /^What would serving cost\?/);
  }));

test("broken links are explained, and the rest of them is used", (browser) =>
  withPage(browser, "#q=collective&/hardware=abacus&/tensor/bytes=1 MiB&%E0%A4%A&x=<img src=x onerror=alert(1)>", async (page) => {
    assert.match(await page.locator("main > .note").textContent(), /^A part of the link cannot be read, and is left out: \/hardware=abacus, /);
    assert.equal(await size(page).inputValue(), "1 MiB");
    await verdict(page).waitFor();
  }));

test("a machine of another chip in a link is replaced, and text in it is only text", (browser) =>
  withPage(browser, `#q=collective&/hardware=h100&/topology=2x4&min-sqnr=${encodeURIComponent("<b>30</b>")}`, async (page) => {
    assert.equal(await shown(page).getByLabel("Machine", { exact: true }).inputValue(), "switch:8");
    await shown(page).locator(".answer > [role=alert]").waitFor();
    assert.match(await shown(page).locator(".answer > [role=alert]").textContent(), /<b>30<\/b>/);
  }));

/// Gives a file input a file of this size, which fails the test if more of it is read than its first bytes.
async function giveHuge(page, input, name, bytes) {
  await page.evaluate(([selector, label, length]) => {
    const huge = new File(["HloModule a"], label);
    const refuse = () => { window.wasRead = true; throw new Error("read"); };
    Object.defineProperties(huge, { size: { value: length }, arrayBuffer: { value: refuse }, text: { value: refuse }, stream: { value: refuse }, slice: { value: refuse } });
    const target = document.querySelector(selector).closest(".drop");
    const event = new Event("drop", { bubbles: true, cancelable: true });
    event.dataTransfer = { files: [huge] };
    target.dispatchEvent(event);
  }, [input, name, bytes]);
  return page.evaluate(() => window.wasRead === true);
}

test("short: bad files are refused with words: a program of 1 GB before it is read", (browser) =>
  withPage(browser, "#q=program", async (page) => {
    const problem = shown(page).locator(".drop [role=alert]");
    assert.equal(await giveHuge(page, "#program-file", "huge.hlo.txt", 2 ** 30), false);
    assert.match(await problem.textContent(), /^huge\.hlo\.txt has 1,024 MiB, but this page reads at most 256 MiB.*nothing was read/);
    const input = shown(page).locator("input[type=file]");
    for (const [name, content, wanted] of [["empty.txt", "", /is empty/], ["a.gz", "\x1f\x8b\x08\x00", /gunzip/], ["a.pb", "\x0a\x00\x00", /is not text/], ["t.npy", "\x93NUMPY", /My tensor/]]) {
      await input.setInputFiles(file(name, Buffer.from(content, "latin1")));
      await page.waitForFunction((text) => document.querySelector("#question-program .drop [role=alert]")?.textContent.startsWith(text), name);
      assert.match(await problem.textContent(), wanted);
    }
    await input.setInputFiles(file("poem.txt", "not a program"));
    await shown(page).locator(".answer > [role=alert]").waitFor();
    assert.match(await shown(page).locator(".answer > [role=alert]").textContent(), /poem\.txt/);
  }));

test("a file dropped next to its place goes there, and does not replace the page", (browser) =>
  withPage(browser, "#q=tensor&formats=int8", async (page) => {
    const isKept = (selector) => page.evaluate((target) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["a poem"], "poem.npy"));
      return !document.querySelector(target).dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    }, selector);
    assert.ok(await isKept("footer"));
    await shown(page).locator(".drop [role=alert]").waitFor();
    assert.match(await shown(page).locator(".drop [role=alert]").textContent(), /^poem\.npy is neither/);
    await page.getByRole("link", { name: "What would serving cost?" }).click();
    assert.ok(await isKept("header"));
  }));

test("bad tensors are refused with words", (browser) =>
  withPage(browser, "#q=tensor&formats=int8", async (page) => {
    assert.equal(await giveHuge(page, "#tensor-file", "huge.npy", 2 ** 34), false);
    assert.match(await shown(page).locator(".drop [role=alert]").textContent(), /^huge\.npy has 16,384 MiB/);
    await shown(page).locator("input[type=file]").setInputFiles(file("cut.npy", Buffer.from("\x93NUMPY\x01\x00", "latin1")));
    await shown(page).locator(".answer > [role=alert]").waitFor();
    assert.match(await shown(page).locator(".answer > [role=alert]").textContent(), /cut\.npy/);
  }));

test("the content policy forbids every connection, and scripts from elsewhere", async (browser) => {
  const page = await open(browser, "#q=serving");
  const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute("content");
  assert.match(policy, /default-src 'none'.*connect-src 'none'/);
  assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval'? *(?<!wasm-unsafe-eval' *)https?:/);
  const attempts = await page.evaluate(async () => {
    const outcomes = {};
    outcomes.fetch = await fetch("https://example.com/").then(() => "sent", () => "refused");
    outcomes.socket = await new Promise((done) => { try { const socket = new WebSocket("wss://example.com/"); socket.onopen = () => done("sent"); socket.onerror = () => done("refused"); } catch { done("refused"); } });
    outcomes.beacon = await new Promise((done) => { addEventListener("securitypolicyviolation", () => done("refused"), { once: true }); navigator.sendBeacon("https://example.com/", "a"); setTimeout(() => done("sent"), 1000); });
    outcomes.image = await new Promise((done) => { const image = new Image(); image.onload = () => done("sent"); image.onerror = () => done("refused"); image.src = "https://example.com/a.png"; });
    outcomes.script = await new Promise((done) => { const script = document.createElement("script"); script.textContent = "window.ran = true"; document.body.append(script); setTimeout(() => done(window.ran ? "ran" : "refused"), 50); });
    return outcomes;
  });
  assert.deepEqual(attempts, { fetch: "refused", socket: "refused", beacon: "refused", image: "refused", script: "refused" });
  await page.close();
});

test("the page works with the keyboard alone", (browser) =>
  withPage(browser, "#q=tensor&formats=int8", async (page) => {
    const focused = () => page.evaluate(() => document.activeElement.textContent || document.activeElement.id);
    for (let i = 0; i < 4; ++i) await page.keyboard.press("Tab");
    assert.match(await focused(), /serving/);
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "tensor-file");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");  // the example
    await verdict(page).waitFor();
    const group = shown(page).getByLabel("Elements per scale", { exact: true });
    await group.focus();
    assert.ok(await shown(page).locator("#tensor-elements-per-scale-about").isVisible());
  }));

/// Gives each question an answer.
async function answerAll(page, use) {
  await verdict(page).waitFor();
  await shown(page).locator(".scrub").waitFor();
  await finished(page);
  await use("collective");
  for (const [name, title] of [["program", "My HLO program"], ["tensor", "My tensor"]]) {
    await page.getByRole("link", { name: title }).click();
    await shown(page).getByRole("button", { name: "Use an example" }).click();
    await verdict(page).waitFor();
    await finished(page);
    await use(name);
  }
  await page.getByRole("link", { name: "What would serving cost?" }).click();
  await shown(page).getByRole("button", { name: "Plan", exact: true }).click();
  await verdict(page).waitFor();
  await finished(page);
  await use("serving");
}

for (const [name, options] of [["light", {}], ["dark, on a phone", { ...kPhone, colorScheme: "dark" }]])
  test(`axe finds no violation in any answer, and the page fits: ${name}`, (browser) =>
    withPage(browser, "#q=collective&formats=int8", async (page) => {
      const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
      await page.evaluate(axe);
      await answerAll(page, async (question) => {
        await page.evaluate(() => document.querySelectorAll("details").forEach((details) => { details.open = true; }));
        const { violations } = await page.evaluate(() => window.axe.run());
        assert.deepEqual(violations.map(({ id, nodes }) => [question, id, nodes.map(({ html }) => html.slice(0, 120))]), []);
        const [width, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.ok(width <= room, `${question} is ${width} wide`);
        await page.screenshot({ path: `pages/${question}-${name.replace(/\W+/g, "-")}.png`, fullPage: true });
      });
    }, options));

test("short: axe finds no violation before there are answers", (browser) =>
  withPage(browser, "#q=serving", async (page) => {
    await page.evaluate(fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
    const { violations } = await page.evaluate(() => window.axe.run());
    assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 120))]), []);
  }));

test("many questions in a row leave the memory bounded, and the last one wins", (browser) =>
  withPage(browser, "#q=collective&formats=int8", async (page) => {
    await verdict(page).waitFor();
    const heap = () => page.evaluate(() => performance.memory.usedJSHeapSize);
    const before = await heap();
    for (let i = 0; i < 30; ++i) await size(page).fill(`${1 + i} MiB`);
    await page.waitForFunction(() => /"30 MiB"/.test(document.querySelector(".along pre").textContent));
    await shown(page).locator(".scrub").waitFor();
    await finished(page);
    assert.ok(await heap() < before + 100e6, "the heap of the page grew by more than 100 MB");
    const fresh = await open(browser, await hash(page));
    await finished(fresh);
    assert.equal(await word(fresh), await word(page));
    assert.equal(await verdict(fresh).textContent(), await verdict(page).textContent());
    await fresh.close();
    assert.ok(wasmPage || page.commands.length < 100);
  }));
