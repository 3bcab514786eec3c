// The view in the address of the page; effects of the filter; narrow pages; accessibility.
import assert from "node:assert/strict";
import fs from "node:fs";

import { cells, chartLabel, columnFilter, count, head, isSorted, numbers, require, test, withPage } from "./harness.mjs";

const hash = (page) => page.evaluate(() => location.hash);
const kPhone = { viewport: { width: 390, height: 844 } };

/// Creates a view: filters, order, chart, columns, row.
async function makeView(page) {
  await page.locator("#search").fill("equarx 4x2");
  await columnFilter(page, "speedup").fill(">1.2");
  await head(page, "time_s").getByRole("button").click();
  await head(page, "time_s").getByRole("button").click();
  await page.locator("#chart-y").selectOption("time_s");
  await page.locator("#columns summary").click();
  await page.getByRole("checkbox", { name: "idle" }).check();
  await page.locator("#table tbody tr[data-row]").nth(1).click();
}

const viewOf = async (page) => ({
  count: await count(page), times: await numbers(page, "time_s"), chart: await chartLabel(page),
  idle: await cells(page, "breakdown/idle_s"), row: await page.locator("#row-name").textContent(),
  filters: [await page.locator("#search").inputValue(), await columnFilter(page, "speedup").inputValue()],
  yScale: await page.locator("#chart-y-scale").inputValue(),
});

test("the address stores the view, and restores it", async (browser) => {
  let address;
  let view;
  await withPage(browser, "small.html", async (page) => {
    assert.equal(await hash(page), "");
    await makeView(page);
    address = await hash(page);
    view = await viewOf(page);
    assert.ok(isSorted(view.times, -1) && view.times.length > 2);
    await page.reload();
    await page.locator("#count:not(:empty)").waitFor();
    assert.deepEqual(await viewOf(page), view);
  });
  await withPage(browser, "small.html", async (page) => {
    assert.deepEqual(await viewOf(page), view);
    assert.equal(await page.locator("#table tr[aria-selected=true]").count(), 1);
    assert.equal(await hash(page), address);
  }, { hash: address });
});

test("Back undoes choices one by one, and Forward redoes them", (browser) =>
  withPage(browser, "small.html", async (page) => {
    await page.locator("#search").pressSequentially("4x2");
    await head(page, "time_s").getByRole("button").click();
    const sorted = await numbers(page, "time_s");
    await page.goBack();
    await page.waitForFunction(() => !location.hash.includes("sort"));
    assert.equal(await head(page, "time_s").getAttribute("aria-sort"), "none");
    assert.equal(await count(page), "21 of 81 rows");
    await page.goBack();  // undoes the typed text at once
    await page.waitForFunction(() => location.hash === "");
    assert.equal(await count(page), "81 rows");
    assert.equal(await page.locator("#search").inputValue(), "");
    await page.goForward();
    await page.goForward();
    await page.waitForFunction(() => location.hash.includes("sort"));
    assert.deepEqual(await numbers(page, "time_s"), sorted);
  }));

test("unknown names in the address are ignored", (browser) =>
  withPage(browser, "small.html", async (page) => {
    assert.equal(await count(page), "40 of 81 rows");
    assert.match(await chartLabel(page), /^Chart of speedup/);
    assert.match(await page.locator("#row-none").textContent(), /No row is selected/);
  }, { hash: "#filter=equarx&sort=-none&chart.x=none&chart.yScale=cubic&held.none=1&filter.none=1&show=none&row=none:none&%E0%A4%A" }));

test("a filtered row is deselected, and its picture hidden", (browser) =>
  withPage(browser, "small.html", async (page) => {
    await page.locator("#table tr[data-row='2']").click();
    assert.equal(await page.locator("#picture img").count(), 1);
    await page.locator("#search").fill("equarx");
    assert.ok(await page.locator("#row-facts").isHidden());
    assert.match(await page.locator("#row-none").textContent(), /No row is selected/);
    assert.equal(await page.locator("#picture img").count(), 0);
    assert.equal(await page.locator("#table").getAttribute("aria-activedescendant"), null);
    await page.locator("#search").fill("no such words");
    assert.equal(await page.locator("#row-none").textContent(), "No row passes the filters.");
    await page.locator("#search").fill("equarx");
    await page.locator("#table").press("ArrowDown");
    assert.ok(await page.locator("#row-facts").isVisible());
    await page.locator("#search").fill("equarx int8");  // the row passes, so it stays
    assert.ok(await page.locator("#row-facts").isVisible());
  }));

test("columns that are cut off are listed", (browser) =>
  withPage(browser, "small.html", async (page) => {
    const cut = page.locator("#table-cut");
    assert.match(await cut.textContent(), /more columns? to the right \(scroll sideways\): .*NMSE/);
    await page.locator("#table-frame").evaluate((frame) => { frame.scrollLeft = frame.scrollWidth; });
    await page.waitForFunction(() => document.getElementById("table-cut").hidden);
  }, { viewport: { width: 800, height: 900 } }));

test("settings common to all rows are listed as text, also those that are objects", (browser) =>
  withPage(browser, "network.html", async (page) => {
    assert.equal(await page.locator("#same").textContent(), "Common to all rows: hardware tpu-v5e (link_bandwidth 90 GB/s) · " +
      "2 slices of 4x4 over a network · tensor of 1 MiB bf16 · chips 32");
    const texts = await page.evaluate(() => [
      topologyText({ torus: "4x4", wraparound: [true, false] }),
      topologyText({ "fully-connected": 8, network: { slices: 4, bandwidth: "25 GB/s", latency: "5 us" } }),
      tensorText({ shape: [64, 1024], dtype: "bf16" }), tensorText({ files: ["a.npy", "b.npy"] }), hardwareText("tpu-v5e")]);
    assert.deepEqual(texts, ["torus 4x4, wraparound true, false", "4 slices of fully-connected 8 over a network",
      "tensor of 64 x 1024 bf16", "tensor of 2 files", "tpu-v5e"]);
    assert.doesNotMatch(await page.locator("body").innerText(), /\[object Object\]/);
  }));

test("the row of a workload has compute, communication and operations", (browser) =>
  withPage(browser, "workload.html", async (page) => {
    assert.deepEqual(await cells(page, "compute_s"), ["4.100", "4.100"]);
    assert.deepEqual(await cells(page, "exposed_s"), ["4.200", "2.100"]);
    await page.locator("#table tr[data-row='1']").click();
    const text = await page.locator("#row-time").innerText();
    assert.match(text, /GEMMs\s+3\.100 ms\s+50\.0 %/);
    assert.match(text, /exposed\s+2\.100 ms\s+33\.9 %/);
    assert.match(text, /attention output\s+matrix\s+62\s+3\.000 ms\s+75\.0 %\s+699\.0\s+1 MiB\s+matrix unit/);
    assert.match(text, /softmax.*HBM$/s);
  }));

test("the row of a step has its groups of tasks, and a picture of its streams", (browser) =>
  withPage(browser, "step.html", async (page) => {
    assert.deepEqual(await cells(page, "label"), ["bf16", "int8"]);
    assert.deepEqual(await cells(page, "exposed_s"), ["2", "1"]);
    await page.locator("#table tr[data-row='1']").click();
    const text = await page.locator("#row-time").innerText();
    assert.match(text, /work\s+computation\s+1\s+2\.000 ms\s+2\.000 ms\s+2\.000 ms/);
    assert.match(text, /a\/b\s+collective\s+1\s+2\.000 ms\s+2\.000 ms\s+1\.000 ms\s+1\.000 ms\s+1\.000 ms/);
    assert.doesNotMatch(await page.locator("#row-values").innerText(), /groups\//);
    const image = page.locator("#picture img");
    assert.equal(await image.getAttribute("alt"), "Picture: streams of int8");
    assert.ok(await image.evaluate((shown) => shown.decode().then(() => shown.naturalWidth)) > 0);
  }));

test("a row initially shows its values, but not its parameters, and a workload only if it has one", (browser) =>
  withPage(browser, "small.html", async (page) => {
    assert.ok(await page.locator("#row-values").isVisible());
    assert.ok(await page.locator("#row-parameters").isHidden());
    assert.ok(await page.locator("#time-details").isHidden());
    assert.deepEqual(await cells(page, "format").then((texts) => texts.slice(0, 2)), ["bf16", "int8"]);
    assert.equal((await cells(page, "quantize"))[1], "both");
  }));

test("the page fits the width of a phone, with bounded height", async (browser) => {
  for (const name of ["small.html", "sweep.html", "workload.html", "step.html", "hostile.html"])
    await withPage(browser, name, async (page) => {
      const size = () => page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]);
      assert.ok((await size())[0] <= 390, `${name} is ${await size()} wide`);
      assert.ok((await size())[1] < 5000, `${name} is ${await size()} high`);
      await page.locator("summary", { hasText: "Chip parameters" }).click();
      assert.ok((await size())[0] <= 390);
      if (name !== "small.html") return;
      const widths = await page.locator("#row-parameters td").evaluateAll((all) => all.filter((cell) => cell.textContent.length > 20).map((cell) => cell.clientWidth));
      assert.ok(widths.length > 0 && widths.every((width) => width > 150), `cells of ${widths} pixels`);
    }, kPhone);
});

test("axe finds no violation, in light and dark, wide and narrow", async (browser) => {
  const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
  for (const [name, options] of [["small.html", {}], ["small.html", kPhone], ["sweep.html", { colorScheme: "dark" }], ["workload.html", {}], ["step.html", {}]])
    await withPage(browser, name, async (page) => {
      await page.evaluate(() => document.querySelectorAll("details").forEach((details) => { details.open = true; }));
      await columnFilter(page, "time").fill(">abc");
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run());
      assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 120))]), []);
    }, options);
});
