// Helpers of the report page's tests. Run in the folder with Playwright.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

export const require = createRequire(`${process.cwd()}/`);
export const [browserPath, pages] = process.argv.slice(2);

export const tests = [];
export const test = (name, run) => tests.push({ name, run });

/// Opens a page, with `hash` in its address, and collects its errors, warnings and external requests.
export async function open(browser, name, { hash = "", ...options } = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  page.complaints = [];
  page.on("console", (message) => page.complaints.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => page.complaints.push(`error: ${error.stack}`));
  const { href } = pathToFileURL(path.join(pages, name));
  page.on("request", (request) => {
    const [address] = request.url().split("#");
    if (address !== href && !/^(data|blob):/.test(address)) page.complaints.push(`request: ${request.url()}`);
  });
  const start = performance.now();
  await page.goto(href + hash);
  await page.locator("#count:not(:empty)").waitFor();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  page.openingTime = performance.now() - start;
  return page;
}

/// Runs `use` on a page, which must not cause errors, warnings or external requests.
export async function withPage(browser, name, use, options) {
  const page = await open(browser, name, options);
  await use(page);
  assert.deepEqual(page.complaints, []);
  await page.close();
}

/// Texts of the column with this key, for the rows in the document.
export async function cells(page, heading) {
  return page.evaluate((wanted) => {
    const heads = [...document.querySelectorAll("#table thead tr:first-child th")];
    const index = heads.findIndex((head) => head.title === wanted);
    if (index < 0) throw new Error(`no column ${wanted}`);
    // The reason of a point without runs spans all columns without values.
    return [...document.querySelectorAll("#table tbody tr[data-row]")].map((row) => row.cells[index]?.textContent ?? "");
  }, heading);
}

export const numbers = async (page, heading) => (await cells(page, heading)).filter(Boolean).map((text) => Number(text.replaceAll(",", "")));
export const head = (page, key) => page.locator(`#table th[title="${key}"]`);
export const columnFilter = (page, label) => page.getByLabel(new RegExp(`^Filter ${label}( \\(|$)`));
export const count = (page) => page.locator("#count").textContent();
export const chartLabel = (page) => page.locator("#chart").getAttribute("aria-label");
export const chartNote = (page) => page.locator("#chart-note").textContent();
export const chartImage = (page) => page.evaluate(() => document.querySelector("#chart canvas").toDataURL());
export const legend = (page) => page.locator("#legend button").allTextContents();
export const isSorted = (values, sign) => values.every((value, i) => i === 0 || sign * (value - values[i - 1]) >= 0);

/// Launches the browser, without background services, which would try to reach a network.
export const launch = () => require("playwright-core").chromium.launch({
  executablePath: browserPath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});

/// Runs all tests, or those that `isWanted(name)`, and sets the exit code.
export async function runTests(isWanted = () => true) {
  const browser = await launch();
  let failures = 0;
  const wanted = tests.filter(({ name }) => isWanted(name));
  for (const { name, run } of wanted) {
    const start = performance.now();
    try {
      await run(browser);
      console.log(`passed in ${((performance.now() - start) / 1000).toFixed(1)} s: ${name}`);
    } catch (error) {
      ++failures;
      console.log(`FAILED: ${name}\n${error.stack}`);
    }
  }
  await browser.close();
  console.log(`${wanted.length - failures} passed, ${failures} failed`);
  process.exitCode = failures === 0 ? 0 : 1;
}
