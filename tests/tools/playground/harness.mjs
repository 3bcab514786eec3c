// Helpers of the playground's tests. Run in the folder with Playwright.
import assert from "node:assert/strict";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { pages, require, runTests, test } from "../report/harness.mjs";
import { bindNative } from "./native.mjs";

export { pages, require, runTests, test };
export const [, , , , program, selection, wasmPage] = process.argv;
export const kPhone = { viewport: { width: 390, height: 844 } };
export const kPatience = wasmPage ? 240_000 : 120_000;  // ms, for an answer

/// Opens the playground, or another page of the folder, at a link; collects complaints, requests and commands.
export async function open(browser, hash = "", { name, setUp, ...options } = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  page.setDefaultTimeout(kPatience);
  Object.assign(page, { complaints: [], commands: [] });
  page.on("console", (message) => page.complaints.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => page.complaints.push(`error: ${error.stack}`));
  const { href } = pathToFileURL(name ? path.join(pages, name) : wasmPage || path.join(pages, "native.html"));
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== href && !request.url().startsWith("blob:")) page.complaints.push(`request: ${request.url()}`);
  });
  await setUp?.(page);
  if (!name && !wasmPage) await bindNative(page, program, page.commands);
  page.address = href;
  await page.goto(href + hash);
  await page.locator("nav a[aria-current]").waitFor();
  return page;
}

/// Runs `use` on a page, which must not cause errors, warnings or requests.
export async function withPage(browser, hash, use, options) {
  const page = await open(browser, hash, options);
  await use(page);
  assert.deepEqual(page.complaints, []);
  await page.close();
}

/// The shown question, and parts of it.
export const shown = (page) => page.locator("main > section:not([hidden])");
export const verdict = (page) => shown(page).locator(".answer:not(.stale) .verdict:not(.plain)").first();
export const word = (page) => verdict(page).locator(".word").textContent();
export const line = (page, name) => shown(page).locator(".lines > div", { has: page.locator("dt", { hasText: new RegExp(`^${name}$`) }) }).locator("dd").textContent();
export const hash = (page) => page.evaluate(() => location.hash);
export const finished = (page) => shown(page).locator('.answer[aria-busy="false"]').waitFor();

/// A file for an input of the page.
export const file = (name, content) => ({ name, mimeType: "application/octet-stream", buffer: Buffer.from(content) });

/// A .npy file of float32 values.
export function npy(shape, valueOf) {
  const count = shape.reduce((a, b) => a * b, 1);
  const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(", ")},), }`;
  const padded = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + "\n";
  const head = Buffer.concat([Buffer.from("\x93NUMPY\x01\x00", "latin1"), Buffer.from([padded.length & 255, padded.length >> 8]), Buffer.from(padded)]);
  return Buffer.concat([head, Buffer.from(Float32Array.from({ length: count }, (_, i) => valueOf(i)).buffer)]);
}
