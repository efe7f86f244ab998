// Answers that a test makes piece by piece, instead of the server.

import { until } from "./browser.mjs";

/** Has a tab take its answers from the test, from its next load on. */
export const fake = (page) => page.addInitScript(() => {
  const real = window.fetch;
  window.made = [];
  window.fetch = (path, options) => {
    if (path !== "/v1/chat/completions") {
      return real(path, options);
    }
    let stream;
    const body = new ReadableStream({ start: (controller) => (stream = controller) });
    const send = (text) => stream.enqueue(new TextEncoder().encode(text));
    const event = (choice) => send(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, ...choice }] })}\n\n`);
    const made = {
      request: JSON.parse(options.body),
      stopped: false,
      say: (content) => event({ delta: { content } }),
      end: (reason) => {
        event({ finish_reason: reason });
        send("data: [DONE]\n\n");
        stream.close();
      },
      lose: () => stream.error(new TypeError("network error")),
    };
    options.signal.addEventListener("abort", () => {
      made.stopped = true;
      stream.error(options.signal.reason);
    });
    window.made.push(made);
    return Promise.resolve(new Response(body));
  };
});

/** Sends a message, and waits until its answer was asked for. */
export async function send(page, text) {
  const before = await page.evaluate(() => window.made.length);
  await page.locator("#message").fill(text);
  await page.keyboard.press("Enter");
  await begun(page, before);
}

/** Waits until an answer was asked for. */
export const begun = (page, index) => page.waitForFunction((i) => window.made.length > i, index);

export async function say(page, index, text) {
  await begun(page, index);
  await page.evaluate(([i, content]) => window.made[i].say(content), [index, text]);
}

export async function end(page, index) {
  await begun(page, index);
  await page.evaluate((i) => window.made[i].end("stop"), index);
}

export const request = (page, index) => page.evaluate((i) => window.made[i].request, index);

export const stopped = (page, index) => page.waitForFunction((i) => window.made[i].stopped, index);

/** Waits until the browser has kept a message with a text. */
export const kept = (page, text) => until(
  page,
  (wanted) =>
    new Promise((resolve) => {
      indexedDB.open("tenon").onsuccess = ({ target: { result } }) => {
        result.transaction("messages").objectStore("messages").getAll().onsuccess = (event) => {
          result.close();
          resolve(event.target.result.some((message) => message.text === wanted));
        };
      };
    }),
  text,
);
