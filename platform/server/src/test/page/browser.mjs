// Starts the browser that the tests drive, and knows how one talks through the page.

import assert from "node:assert/strict";
import { chromium } from "playwright-core";

export const [address, executablePath, axe] = process.argv.slice(2);
export const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const WAIT_MILLIS = 30_000; // ends a hang
/** What the browser complained about. */
export const problems = [];
/** Requests to others than the server. */
export const elsewhere = [];

/** The end of a stream that is complete. */
export const END = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`;

export async function open(options = {}) {
  return newTab(await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options }));
}

/** One more tab of a browser. */
export async function newTab(context) {
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MILLIS);
  page.on("console", (message) => {
    // A request that is refused or fails is told by the browser, too.
    if (["error", "warning"].includes(message.type()) && !/status of (401|409|503)|net::ERR_CONNECTION_REFUSED/.test(message.text())) {
      problems.push(message.text());
    }
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(address) && !request.url().startsWith("blob:")) {
      elsewhere.push(request.url());
    }
  });
  return page;
}

export async function withKey(page, path = "") {
  await page.goto(address + path);
  await page.locator("dialog input").fill("key");
  await page.keyboard.press("Enter");
  await page.locator("select.model option").first().waitFor({ state: "attached" });
}

export const answers = (page) => page.locator(".message.assistant");
export const ended = (page) => page.locator(".send:not(.running)").waitFor();

export async function ask(page, text) {
  await page.locator("#message").fill(text);
  await page.keyboard.press("Enter");
  await ended(page);
}

/** Waits until a function of the page, which may be asynchronous, returns true. */
export async function until(page, condition, argument) {
  const end = Date.now() + WAIT_MILLIS;
  while (!(await page.evaluate(condition, argument))) {
    assert.ok(Date.now() < end, `not so in ${WAIT_MILLIS} ms: ${condition}`);
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
}

/** Does steps one after the other with a page, and tells of each. */
export async function run(steps, page) {
  for (const [name, step] of Object.entries(steps)) {
    try {
      await step(page);
      console.log(`ok: ${name}`);
    } catch (error) {
      console.log(`failed: ${name}`, problems);
      throw error;
    }
  }
}
