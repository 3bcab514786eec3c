// Initial state of the chart, and its fixed axes.
import assert from "node:assert/strict";

import { chartImage, chartLabel, chartNote, count, legend, test, withPage } from "./harness.mjs";

const held = (page, key) => page.locator(`#chart-held select[data-held="${key}"]`);
const kMicroshards = "/collectives/1/microshards";

test("with three axes the chart has one point at each x, and fixes the axis with the least effect", (browser) =>
  withPage(browser, "sweep.html", async (page) => {
    assert.match(await chartLabel(page), /speedup \(x\) against tensor\/bytes, by collective and topology\/slice: 40 points in 4 groups$/);
    assert.equal(await held(page, kMicroshards).inputValue(), "2");
    assert.match(await chartNote(page), /Showing 160 of 240 rows: those with collectives\/1\/microshards at 2\./);
    assert.doesNotMatch(await chartNote(page), /several points/);
    const image = await chartImage(page);
    await held(page, kMicroshards).selectOption("3");
    assert.notEqual(await chartImage(page), image);
    assert.match(await chartLabel(page), /40 points in 4 groups$/);
    await held(page, kMicroshards).selectOption({ label: "all values" });
    assert.match(await chartLabel(page), /120 points in 4 groups$/);
    assert.match(await chartNote(page), /several points at one x.*collectives\/1\/microshards/);
  }));

test("the baseline is one line at 1, without axes of other collectives", (browser) =>
  withPage(browser, "sweep.html", async (page) => {
    assert.deepEqual(await legend(page), ["full-loop int8, 2x2", "full-loop int8, 4x2", "full-loop int8, 4x4", "full-loop int8, 8x8", "bf16 (baseline)"]);
    assert.match(await chartNote(page), /Horizontal line: bf16 \(baseline\), 1x\./);
    const image = await chartImage(page);
    await page.locator("#legend button").last().click();
    assert.notEqual(await chartImage(page), image);
    await page.locator("#chart-group2").selectOption(kMicroshards);
    assert.deepEqual((await legend(page)).at(-1), "bf16 (baseline)");
    assert.equal((await legend(page)).length, 4);
    // Times of the baseline are points, not repeated for each number of microshards.
    await page.locator("#chart-y").selectOption("time_s");
    assert.deepEqual((await legend(page))[0], "bf16 (baseline)");
    assert.match(await chartLabel(page), /: 40 points in 4 groups$/);
    // The baseline's time is a line if it does not depend on the axis at x.
    await page.locator("#chart-x").selectOption(kMicroshards);
    assert.match(await chartNote(page), /Horizontal line: bf16 \(baseline\)/);
  }));

test("fixed axes follow the filter and the other axes", (browser) =>
  withPage(browser, "sweep.html", async (page) => {
    await page.getByLabel("Filter collectives/1/microshards").fill("3");
    assert.equal(await held(page, kMicroshards).count(), 0);  // no choice left
    assert.match(await chartLabel(page), /40 points in 4 groups$/);
    await page.locator("#reset").click();
    await held(page, kMicroshards).selectOption("1");
    await page.getByLabel("Filter collectives/1/microshards").fill(">1");
    assert.equal(await count(page), "160 of 240 rows".replace("160", "80"));
    assert.equal(await held(page, kMicroshards).inputValue(), "3");  // chosen from 2 and 3, as 1 is filtered out
    await page.locator("#reset").click();
    assert.equal(await held(page, kMicroshards).inputValue(), "1");
    await page.locator("#chart-group2").selectOption({ label: "none" });
    assert.equal(await page.locator("#chart-held select").count(), 2);
    assert.match(await chartLabel(page), /10 points in 1 group$/);
  }));

test("rows of a single experiment are drawn by collective", (browser) =>
  withPage(browser, "workload.html", async (page) => {
    assert.match(await chartLabel(page), /against collective: 2 points in 1 group$/);
  }));
