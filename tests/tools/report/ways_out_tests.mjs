// Export from the page: CSV, pictures of the chart, the command and the configuration of a row.
import assert from "node:assert/strict";
import fs from "node:fs";

import { columnFilter, head, legend, test, withPage } from "./harness.mjs";

/// Presses a button, and returns name and bytes of the saved file.
async function saved(page, id) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator(`#${id}`).click()]);
  return { name: download.suggestedFilename(), bytes: fs.readFileSync(await download.path()) };
}

/// Fields of RFC 4180.
function parseCsv(text) {
  return text.split("\r\n").filter(Boolean).map((line) =>
    [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain));
}

/// Returns the text in the clipboard, by pasting it.
async function pasted(page) {
  await page.locator("#search").fill("");
  await page.locator("#search").press("ControlOrMeta+v");
  const text = await page.locator("#search").inputValue();
  await page.locator("#search").fill("");
  return text;
}

const kWithoutClipboard = () => Object.defineProperty(navigator, "clipboard", { value: undefined });

test("CSV has the filtered rows in the order of the table, with numbers next to texts", (browser) =>
  withPage(browser, "small.html", async (page) => {
    await page.locator("#search").fill("equarx 4x2");
    await columnFilter(page, "speedup").fill(">1.2");
    await head(page, "time_s").getByRole("button").click();
    await head(page, "time_s").getByRole("button").click();
    const { name, bytes } = await saved(page, "save-csv");
    assert.equal(name, "AllReduce_on_TPU_v5e_slices.csv");
    const [names, ...rows] = parseCsv(bytes.toString());
    const column = (wanted) => rows.map((row) => row[names.indexOf(wanted)]);
    assert.deepEqual(names.filter((text, i) => names.indexOf(text) !== i), []);
    assert.ok(rows.length > 2 && rows.every((row) => row.length === names.length));
    assert.equal(column("tensor/bytes")[0], "1 GiB");
    assert.equal(column("tensor/bytes (B)")[0], String(2 ** 30));
    const times = column("time (s)").map(Number);
    assert.ok(times.every((time, i) => time > 1e-6 && time < 1 && (i === 0 || time <= times[i - 1])));
    assert.ok(column("idle (s)").every((text) => Number(text) > 0));  // hidden in the table
    assert.deepEqual([...new Set(column("collective"))], ["full-loop int8"]);
  }));

test("CSV quotes special characters", (browser) =>
  withPage(browser, "hostile.html", async (page) => {
    const { bytes } = await saved(page, "save-csv");
    const [names, row] = parseCsv(bytes.toString());
    assert.equal(row[names.indexOf("collective")], await page.locator("h1").textContent());
  }));

test("the chart can be saved as PNG, and as SVG with title, axes and legend", (browser) =>
  withPage(browser, "sweep.html", async (page) => {
    const svg = await saved(page, "save-svg");
    assert.equal(svg.name, "Three_axes.svg");
    const texts = await page.evaluate((text) => {
      const picture = new DOMParser().parseFromString(text, "image/svg+xml");
      if (picture.querySelector("parsererror")) throw new Error(picture.textContent);
      return { texts: [...picture.querySelectorAll("text")].map((each) => each.textContent), lines: picture.querySelectorAll("polyline").length };
    }, svg.bytes.toString());
    for (const wanted of ["Three axes", "collectives/1/microshards at 2", "tensor/bytes", "speedup (x)", "64 KiB", ...await legend(page)])
      assert.ok(texts.texts.includes(wanted), `${wanted} in ${texts.texts}`);
    assert.equal(texts.lines, 4);
    assert.doesNotMatch(svg.bytes.toString(), /NaN|undefined|var\(/);
    const png = await saved(page, "save-png");
    assert.equal(png.name, "Three_axes.png");
    assert.deepEqual([...png.bytes.subarray(1, 4)], [..."PNG"].map((letter) => letter.charCodeAt(0)));
    assert.ok(png.bytes.readUInt32BE(16) === 1920 && png.bytes.length > 20_000);
  }));

test("the saved chart omits hidden groups, and can have texts as x", async (browser) => {
  await withPage(browser, "sweep.html", async (page) => {
    await page.locator("#legend button").first().click();
    const { bytes } = await saved(page, "save-svg");
    assert.equal(bytes.toString().match(/<polyline/g).length, 3);
  });
  await withPage(browser, "intervals.html", async (page) => {
    await page.locator("#chart-x").selectOption("label");
    const { bytes } = await saved(page, "save-svg");
    assert.match(bytes.toString(), />full-loop int8</);
    assert.doesNotMatch(bytes.toString(), /NaN/);
  });
});

for (const [how, script] of [["the clipboard", null], ["no clipboard", kWithoutClipboard]])
  test(`the command, the configuration and the address are copied, with ${how}`, (browser) =>
    withPage(browser, "small.html", async (page) => {
      if (script) await page.evaluate(script);
      else await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.locator("#table tr[data-row='3']").click();
      await page.locator("#copy-config").click();
      await page.locator("#row-copied:has-text('Copied.')").waitFor();
      const config = JSON.parse(await pasted(page));
      assert.equal(config.tensor.bytes, "16 KiB");
      assert.equal(config.collectives[1].label, "full-loop int8");
      await page.locator("#table tr[data-row='3']").click();
      await page.locator("#copy-command").click();
      await page.locator("#row-copied:has-text('Copied.')").waitFor();
      assert.match(await pasted(page), /^equarx-sim run \/dev\/stdin <<'END'.*"16 KiB".*END/);
      await page.locator("#table tr[data-row='5']").click();
      await page.locator("#copy-link").click();
      await page.locator("#link-copied:has-text('Copied.')").waitFor();
      assert.match(await pasted(page), /^file:\/\/.*small\.html#row=/);
    }));

test("rounded integers in a configuration are detected", (browser) =>
  withPage(browser, "small.html", async (page) => {
    const rounded = await page.evaluate(() => [{ seed: 9223372036854775807n }, { seed: 2 ** 53 - 1, x: [0.5, null, "9e99"] }]
      .map(({ seed, ...others }) => isRounded({ tensor: { seed: Number(seed), ...others } })));
    assert.deepEqual(rounded, [true, false]);
    assert.doesNotMatch(await page.locator("#row-command").textContent(), /#/);
  }));

test("a configuration can be saved as a file", (browser) =>
  withPage(browser, "small.html", async (page) => {
    await page.locator("#table tr[data-row='3']").click();
    const { name, bytes } = await saved(page, "save-config");
    assert.match(name, /^AllReduce_on_TPU_v5e_slices_[0-9a-f]{8}\.json$/);
    assert.equal(JSON.parse(bytes).tensor.bytes, "16 KiB");
  }));

test("the command of a failed point sets its axes, as its configuration is missing", (browser) =>
  withPage(browser, "small.html", async (page) => {
    await columnFilter(page, "tensor/bytes").fill("1 B");
    await page.locator("#table tbody tr[data-row]").first().click();
    assert.equal(await page.locator("#row-command").textContent(),
      "equarx-sim run CONFIG.json \\\n  --set '/tensor/bytes=1 B' \\\n  --set /topology/slice=4x2");
    assert.ok(await page.locator("#copy-config").isDisabled());
    assert.match(await page.locator("#row-error").textContent(), /^Failed: /);
  }));
