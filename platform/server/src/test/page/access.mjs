// Keyboard and focus, what is told while something works or is empty, what is drawn, and what axe-core finds in all views.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { end, fake, say, send } from "./answers.mjs";
import { address, answers, ask, axe, ended, open, problems, until, withKey } from "./browser.mjs";

const focusOn = (page, name) => until(
  page,
  (wanted) => (document.activeElement.getAttribute("aria-label") || document.activeElement.textContent || document.activeElement.tagName) === wanted,
  name,
);
const question = (page) => page.locator(".message.user").last();

/** Puts a chat of many messages into the browser, and returns its title. */
async function importChat(page, count) {
  const text = (i) => `## Part ${i}\n\nSome *words* and \`code\`.\n\n\`\`\`java\nint x = ${i};\n\`\`\`\n\n- one\n- two\n\n| a | b |\n| - | - |\n| 1 | 2 |\n`;
  const messages = Array.from({ length: count }, (_, i) => ({ id: `m${i}`, parent: i ? `m${i - 1}` : "root", role: i % 2 ? "assistant" : "user", text: text(i) }));
  const chats = [{ id: "long", title: "A long chat", updated: 1, messages, chosen: {} }];
  await page.getByLabel("File of chats").setInputFiles({ name: "long.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify({ tenon_chats: 1, chats })) });
  await page.getByText("1 chat was imported").waitFor();
}

export const access = {
  async "the focus stays where one works"(page) {
    await fake(page);
    await withKey(page);
    await send(page, "One.");
    await say(page, 0, "Yes.");
    await page.getByRole("button", { name: "Stop this answer" }).focus();
    await end(page, 0);
    await ended(page);
    await focusOn(page, "Copy");
    await page.getByRole("button", { name: "Answer again" }).click();
    await focusOn(page, "Stop this answer");
    await say(page, 1, "No.");
    await page.keyboard.press("Enter");
    await ended(page);
    await focusOn(page, "Continue");
    await page.getByRole("button", { name: "Branch before" }).click();
    await until(page, () => document.activeElement.getAttribute("aria-label") === "Next branch"); // there is none before it
    await page.keyboard.press("Enter");
    await until(page, () => document.activeElement.getAttribute("aria-label") === "Branch before");
    await question(page).getByRole("button", { name: "Edit" }).click();
    await page.keyboard.press("Escape");
    await focusOn(page, "Edit");
    await page.keyboard.press("Enter");
    await page.getByLabel("Edited message").fill("Two.");
    await page.keyboard.press("Enter");
    await focusOn(page, "Message");
    await end(page, 2);
    await ended(page);
    await question(page).getByRole("button", { name: "Branch before" }).click();
    await until(page, () => document.activeElement.getAttribute("aria-label") === "Next branch");

    await page.keyboard.press("Control+Shift+O");
    await send(page, "Another chat.");
    await end(page, 3);
    await ended(page);
    await page.getByRole("button", { name: "Delete Another chat." }).click({ force: true });
    await page.locator("dialog").getByRole("button", { name: "Delete" }).click();
    await page.locator(".entry", { hasText: "Another chat." }).waitFor({ state: "detached" });
    await until(page, () => document.activeElement.textContent === "One.");
  },

  async "a chat that is left before all of it is drawn is left"(page) {
    await importChat(page, 100);
    await page.evaluate(() => {
      const leave = new MutationObserver(() => {
        if (document.querySelector(".message")) {
          leave.disconnect();
          location.hash = "#/chat";
        }
      });
      leave.observe(document.querySelector(".messages"), { childList: true });
      location.hash = "#/chat/long";
    });
    await page.locator(".empty").waitFor();
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve))); // comes after what was asked for before it
    assert.equal(await page.locator(".message").count(), 0);
    assert.deepEqual(problems, []);
  },

  async "of many messages the end is drawn first, and nothing twice"(page) {
    await page.evaluate(() => {
      window.drawn = [];
      const observer = new MutationObserver((records) => window.drawn.push(records.flatMap((record) => [...record.addedNodes]).filter((node) => node.tagName === "ARTICLE")));
      observer.observe(document.querySelector(".messages"), { childList: true });
    });
    await page.locator(".entry", { hasText: "A long chat" }).getByRole("link").click();
    await until(page, () => document.querySelectorAll(".message").length === 100);
    const first = await page.evaluate(() => {
      const nodes = window.drawn.find((each) => each.length);
      return [nodes.length, nodes.includes(document.querySelector(".messages").lastChild)];
    });
    assert.ok(first[0] < 100 && first[1], String(first));
    await until(page, () => document.querySelectorAll(".message.assistant .code").length === 50 && document.querySelectorAll(".message .actions button").length >= 200);

    await page.evaluate(() => document.querySelectorAll(".message, .block").forEach((node) => (node.seen = true)));
    await send(page, "More.");
    await say(page, 4, "One paragraph.\n\nAnother");
    await answers(page).last().getByText("Another").waitFor();
    await page.evaluate(() => [...document.querySelectorAll(".message.assistant")].at(-1).querySelectorAll(".block").forEach((node) => (node.seen = true)));
    await say(page, 4, " one.\n");
    await end(page, 4);
    await answers(page).last().getByText("Another one.").waitFor();
    const again = await page.evaluate(() => [...document.querySelectorAll(".message, .block")].filter((node) => !node.seen).map((node) => node.textContent));
    assert.equal(again.length, 3, String(again)); // the question, its answer, and the block that has grown
  },

  async "code that grows keeps its colours"(page) {
    await send(page, "Code.");
    await say(page, 5, "```java\nint x");
    await until(page, () => document.querySelectorAll(".message:last-child .hljs-type").length === 1);
    await page.evaluate(() => {
      window.bare = 0;
      const observer = new MutationObserver(() => (window.bare += document.querySelector(".message:last-child .hljs-type") ? 0 : 1));
      observer.observe(document.querySelector(".messages"), { childList: true, subtree: true });
    });
    await say(page, 5, " = 1;\nint y");
    await until(page, () => document.querySelectorAll(".message:last-child .hljs-type").length === 2);
    await say(page, 5, " = 2;\n```\n");
    await end(page, 5);
    await ended(page);
    assert.equal(await page.evaluate(() => document.querySelectorAll(".message:last-child .hljs-type").length), 2);
    assert.equal(await page.evaluate(() => window.bare), 0);
  },

  async "to the end leads to the end, and is gone there"(page) {
    const jump = page.getByRole("button", { name: "To the end" });
    await until(page, () => getComputedStyle(document.querySelector(".jump")).visibility === "hidden");
    await page.evaluate(() => (document.querySelector(".scroll").scrollTop = 0));
    await jump.click();
    await until(page, () => getComputedStyle(document.querySelector(".jump")).visibility === "hidden");
    await focusOn(page, "Conversation");
  },

  async "a search that finds nothing says so"(page) {
    const search = page.locator("#search");
    await search.fill("Part 77");
    await page.waitForFunction(() => document.querySelectorAll(".entry").length === 1);
    await search.fill("<i>xyz");
    await page.getByText("No chat has “<i>xyz”.").waitFor();
    await search.fill("");
    await page.goto(`${address}/#/bundles`);
    await page.getByLabel("Filter bundles").fill("xyz");
    await page.getByText("No bundle has “xyz”.").waitFor();
  },

  async "what takes long shows that it works, and a download is cancelled"(page) {
    await page.goto(`${address}/#/models`);
    const badge = (text) => page.locator(".badge").getByText(text, { exact: true });
    const works = [
      ["Why here?", "Looking …", page.getByText("taken: rank 100"), "Why here?"],
      ["Unload", "Unloading …", badge("not loaded"), "Load"],
      ["Load", "Loading …", badge("loaded"), "Unload"],
    ];
    for (const [name, busy, done, after] of works) {
      let release;
      const gate = new Promise((resolve) => (release = resolve));
      await page.route(/bundles\/why|api\/generate/, async (route) => {
        await gate;
        await route.continue();
      });
      await page.getByRole("button", { name, exact: true }).click();
      await page.locator("[aria-busy=true]", { hasText: busy }).waitFor();
      release();
      await done.waitFor();
      await page.keyboard.press("Escape");
      await until(page, (text) => document.activeElement.textContent === text, after);
      await page.unroute(/bundles\/why|api\/generate/);
    }

    const held = [];
    await page.route("**/api/pull", (route) => held.push(route));
    await page.getByLabel("Repository and quantisation").fill("org/tiny-GGUF:Q4_K_M");
    await page.getByRole("button", { name: "Download" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("The download of org/tiny-GGUF:Q4_K_M was cancelled.").waitFor();
    assert.ok(await page.getByRole("button", { name: "Download" }).isEnabled());
    await Promise.all(held.map((route) => route.abort())); // or the server gets what is held when the route ends
    await page.unroute("**/api/pull");
  },

  async "plots without values say so"() {
    const page = await open();
    await withKey(page);
    await page.goto(`${address}/#/activity`);
    await page.locator(".plot .none:visible").first().waitFor();
    await page.context().close();
  },

  async "it fits a phone"() {
    const phone = await open({ viewport: { width: 360, height: 720 }, isMobile: true, hasTouch: true });
    await withKey(phone);
    await ask(phone, "A tale.");
    for (const view of ["chat", "models", "bundles", "devices", "activity"]) {
      await phone.goto(`${address}/#/${view}`);
      await phone.locator("h1:not(.hidden), .empty").first().waitFor();
      const width = await phone.evaluate(() => document.scrollingElement.scrollWidth);
      assert.ok(width <= 360, `${view} is ${width} wide on a phone of 360`);
    }
    await phone.goto(`${address}/#/bundles`);
    await phone.locator("td .badge").first().waitFor();
    assert.deepEqual(await phone.evaluate(() => [...document.querySelectorAll("tr:nth-child(2) td")].map((cell) => getComputedStyle(cell, "::before").content)), ["none", '"State"', '"Offers"', '"Reaches"', "none"]);
    await phone.getByRole("button", { name: /^Show side bar/ }).tap();
    await phone.locator("#views").getByText("Models").tap();
    await phone.getByRole("heading", { name: "Models" }).waitFor();
    await phone.context().close();
  },

  async "axe-core finds nothing in any view"() {
    const source = await readFile(axe, "utf8");
    for (const [form, options] of Object.entries({ desk: {}, phone: { viewport: { width: 360, height: 720 }, isMobile: true, hasTouch: true } })) {
      const page = await open({ ...options, reducedMotion: "reduce" });
      await fake(page);
      await withKey(page);
      await importChat(page, 6);
      await send(page, "Go on.");
      await say(page, 0, "I do.");
      const found = [];
      const look = async (name) => {
        for (const colorScheme of ["light", "dark"]) {
          await page.emulateMedia({ colorScheme });
          await page.evaluate(source);
          const { violations } = await page.evaluate((rules) => axe.run(rules ? { runOnly: rules } : {}), colorScheme === "dark" ? ["color-contrast"] : null); // all else is the same
          found.push(...violations.map((each) => `${form} ${name} ${colorScheme} ${each.impact} ${each.id}: ${each.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`));
        }
      };
      await answers(page).getByText("I do.").waitFor();
      await look("answering");
      await page.evaluate(() => window.made[0].lose());
      await ended(page);
      await look("broken off");
      await page.getByRole("button", { name: "Settings" }).click();
      await look("settings");
      await page.keyboard.press("Escape");
      for (const view of ["chat/long", "chat", "models", "bundles", "devices", "activity"]) {
        await page.goto(`${address}/#/${view}`);
        await page.locator("article, .empty, td, dd").first().waitFor();
        await look(view);
      }
      await page.goto(`${address}/#/models`);
      await page.getByRole("button", { name: "Why here?" }).click();
      await page.getByText("taken: rank 100").waitFor();
      await look("why");
      assert.deepEqual(found, []);
      await page.context().close();
    }
  },
};
