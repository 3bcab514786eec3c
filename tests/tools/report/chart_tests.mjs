// What the chart shows at first, and what it holds.
import assert from "node:assert/strict";

import { chartImage, chartLabel, chartNote, count, legend, test, withPage } from "./harness.mjs";

const held = (page, key) => page.locator(`#chart-held select[data-held="${key}"]`);
const kMicroshards = "/collectives/1/microshards";

test("of a sweep of three axes the chart shows one point at each x, and holds the axis that matters least", (browser) =>
  withPage(browser, "sweep.html", async (page) => {
    assert.match(await chartLabel(page), /speedup \(x\) against tensor\/bytes, by collective and topology\/slice: 40 points in 4 groups$/);
    assert.equal(await held(page, kMicroshards).inputValue(), "2");
    assert.match(await chartNote(page), /Of 240 rows the chart shows the 160 with collectives\/1\/microshards at 2\./);
    assert.doesNotMatch(await chartNote(page), /several points/);
    const image = await chartImage(page);
    await held(page, kMicroshards).selectOption("3");
    assert.notEqual(await chartImage(page), image);
    assert.match(await chartLabel(page), /40 points in 4 groups$/);
    await held(page, kMicroshards).selectOption({ label: "all values" });
    assert.match(await chartLabel(page), /120 points in 4 groups$/);
    assert.match(await chartNote(page), /several points at one x.*collectives\/1\/microshards/);
  }));

test("the baseline is one line at 1, and no axis of another collective is attached to it", (browser) =>
  withPage(browser, "sweep.html", async (page) => {
    assert.deepEqual(await legend(page), ["full-loop int8, 2x2", "full-loop int8, 4x2", "full-loop int8, 4x4", "full-loop int8, 8x8", "bf16 (baseline)"]);
    assert.match(await chartNote(page), /The line across is bf16 \(baseline\), 1x\./);
    const image = await chartImage(page);
    await page.locator("#legend button").last().click();
    assert.notEqual(await chartImage(page), image);
    await page.locator("#chart-group2").selectOption(kMicroshards);
    assert.deepEqual((await legend(page)).at(-1), "bf16 (baseline)");
    assert.equal((await legend(page)).length, 4);
    // Times of the baseline are points, which no microshards repeat.
    await page.locator("#chart-y").selectOption("time_s");
    assert.deepEqual((await legend(page))[0], "bf16 (baseline)");
    assert.match(await chartLabel(page), /: 40 points in 4 groups$/);
    // Where the axis at x is not about the baseline its time is a line, too.
    await page.locator("#chart-x").selectOption(kMicroshards);
    assert.match(await chartNote(page), /The line across is bf16 \(baseline\)/);
  }));

test("what is held follows the filter and the other axes", (browser) =>
  withPage(browser, "sweep.html", async (page) => {
    await page.getByLabel("Filter collectives/1/microshards").fill("3");
    assert.equal(await held(page, kMicroshards).count(), 0);  // nothing to choose among
    assert.match(await chartLabel(page), /40 points in 4 groups$/);
    await page.locator("#reset").click();
    await held(page, kMicroshards).selectOption("1");
    await page.getByLabel("Filter collectives/1/microshards").fill(">1");
    assert.equal(await count(page), "160 of 240 rows".replace("160", "80"));
    assert.equal(await held(page, kMicroshards).inputValue(), "3");  // of 2 and 3, as 1 is filtered out
    await page.locator("#reset").click();
    assert.equal(await held(page, kMicroshards).inputValue(), "1");
    await page.locator("#chart-group2").selectOption({ label: "nothing" });
    assert.equal(await page.locator("#chart-held select").count(), 2);
    assert.match(await chartLabel(page), /10 points in 1 group$/);
  }));

test("a row without any experiment but its own is drawn beside the others", (browser) =>
  withPage(browser, "workload.html", async (page) => {
    assert.match(await chartLabel(page), /against collective: 2 points in 1 group$/);
  }));
