// What lasts: messages and answers through reloads, failures, other chats and other tabs; addresses, names and drafts.

import assert from "node:assert/strict";
import { begun, end, fake, kept, request, say, send, stopped } from "./answers.mjs";
import { address, answers, ask, ended, newTab, open, until, withKey } from "./browser.mjs";

const entry = (page, title) => page.locator(".entry", { hasText: title });
const answer = (page) => answers(page).last().locator(".markdown").last();
const said = async (page) => (await answer(page).textContent()).trim(); // a paragraph ends with a line end
const error = (page) => page.locator(".after .error");
const here = (page) => page.evaluate(() => location.hash);
const event = (choice) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, ...choice }] })}\n\n`;

export const lasting = {
  async "a message and a part of its answer outlast a reload"(page) {
    await fake(page);
    await withKey(page);
    await send(page, "Tell of the sea.");
    await kept(page, "Tell of the sea.");
    await say(page, 0, "Once upon");
    await kept(page, "Once upon");
    const before = await here(page);
    await page.reload();
    await error(page).waitFor();
    assert.equal(await here(page), before);
    assert.equal(await page.locator(".message.user .plain").textContent(), "Tell of the sea.");
    assert.equal(await said(page), "Once upon");
    assert.equal(await error(page).textContent(), "The answer broke off: the page was closed or loaded again.");
  },

  async "an answer that broke off is continued, or made again"(page) {
    await page.getByRole("button", { name: "Continue" }).click();
    await begun(page, 0);
    const { messages, ...fields } = await request(page, 0);
    assert.deepEqual(messages, [{ role: "user", content: "Tell of the sea." }, { role: "assistant", content: "Once upon" }]);
    assert.equal(fields.continue_final_message, true);
    await say(page, 0, " a time.");
    await end(page, 0);
    await ended(page);
    assert.equal(await said(page), "Once upon a time.");
    assert.equal(await error(page).count(), 0);
    await page.reload();
    await answer(page).getByText("Once upon a time.").waitFor();
    assert.equal(await error(page).count(), 0);
  },

  async "the server continues an answer that was stopped"() {
    const page = await open();
    await withKey(page);
    const reply = `${event({ delta: { content: "Once upon a time" } })}${event({ finish_reason: "length" })}data: [DONE]\n\n`;
    await page.route("**/v1/chat/completions", (route) => route.fulfill({ contentType: "text/event-stream", body: reply }));
    await ask(page, "Tell of the sea.");
    await page.unroute("**/v1/chat/completions");
    const sent = page.waitForResponse("**/v1/chat/completions");
    await page.getByRole("button", { name: "Continue" }).click();
    assert.equal((await sent).status(), 200);
    await ended(page);
    assert.match(await said(page), /^Once upon a time.+/);
    await page.context().close();
  },

  async "each way in which an answer breaks off is told"() {
    const page = await open();
    await withKey(page);
    const part = event({ delta: { content: "Once" } });
    const stream = (body) => ({ contentType: "text/event-stream", body });
    const broken = [
      [stream(part), "The answer broke off: The server ended it before it was complete."],
      [stream(`${part}data: [DONE]\n\n`), "The answer broke off: The server ended it before it was complete."],
      [stream(`${part}data: {"cho\n\n`), 'The answer broke off: The server sent what is no JSON: {"cho'],
      [stream(`${part}data: {"error":{"message":"It is shut down."}}\n\n`), "The answer broke off: It is shut down."],
      [{ status: 503, json: { error: { message: "The queue is full." } } }, "There is no answer: The queue is full."],
      [null, `There is no answer: The server at ${new URL(address).host} cannot be reached. Does it run, and is this device in its network?`],
    ];
    for (const [reply, told] of broken) {
      await page.route("**/v1/chat/completions", (route) => (reply ? route.fulfill(reply) : route.abort("connectionrefused")));
      await page.keyboard.press("Control+Shift+O");
      await ask(page, "Tell.");
      assert.equal(await error(page).textContent(), told);
      await page.unroute("**/v1/chat/completions");
      await page.getByRole("button", { name: "Answer again" }).click();
      await ended(page);
      assert.equal(await error(page).count(), 0, told);
    }
    await page.context().close();
  },

  async "a connection that is lost in an answer is told, and what has come stays"(page) {
    await page.keyboard.press("Control+Shift+O");
    await send(page, "Tell of ships.");
    await say(page, 0, "Once");
    await page.evaluate(() => window.made[0].lose());
    assert.match(await error(page).textContent(), /^The answer broke off: The connection to the server at .* was lost/);
    assert.equal(await said(page), "Once");
  },

  async "answers go on while other chats are shown, and are stopped one by one"(page) {
    await page.reload();
    await page.keyboard.press("Control+Shift+O");
    await send(page, "First chat.");
    const first = await here(page);
    await page.keyboard.press("Control+Shift+O");
    await send(page, "Second chat.");
    await page.keyboard.press("Control+Shift+O");
    await send(page, "Third chat.");
    assert.equal(await page.locator(".entry.running").count(), 3);
    await say(page, 0, "It goes ");
    await say(page, 2, "The third.");
    await say(page, 0, "on.");
    await end(page, 0);
    await entry(page, "First chat.").and(page.locator(":not(.running)")).waitFor();
    await answer(page).getByText("The third.").waitFor();
    await entry(page, "Second chat.").getByRole("link").click();
    await page.locator(".message.user").getByText("Second chat.").waitFor();
    await page.getByRole("button", { name: "Stop this answer" }).click();
    await stopped(page, 1);
    await ended(page);
    assert.match(await answers(page).textContent(), /stopped/);
    assert.equal(await page.locator(".entry.running").count(), 1);
    await page.goto(address + "/" + first);
    await answer(page).getByText("It goes on.").waitFor();
    await entry(page, "Third chat.").getByRole("link").click();
    await answer(page).getByText("The third.").waitFor();
    await page.keyboard.press("Escape");
    await stopped(page, 2);
    await page.goto(address + "/" + first);
    await page.reload();
    await answer(page).getByText("It goes on.").waitFor();
  },

  async "chats have addresses and names"(page) {
    const first = await here(page);
    await page.waitForFunction(() => document.title === "First chat. – Tenon");
    await entry(page, "Second chat.").getByRole("link").click();
    await page.locator(".message.user .plain", { hasText: "Second chat." }).waitFor();
    await page.goBack();
    await page.locator(".message.user .plain", { hasText: "First chat." }).waitFor();
    assert.equal(await here(page), first);
    await entry(page, "First chat.").hover();
    await page.getByRole("button", { name: "Rename First chat." }).click();
    await page.getByLabel("Name", { exact: true }).fill("Of <b>the</b> sea");
    await page.keyboard.press("Enter");
    await entry(page, "Of <b>the</b> sea").waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Rename Of <b>the</b> sea");
    assert.equal(await page.title(), "Of <b>the</b> sea – Tenon");
    await page.reload();
    await entry(page, "Of <b>the</b> sea").waitFor();
    await page.locator("#views").getByText("Models").click();
    await page.locator("#views").getByText("Chat", { exact: true }).click();
    assert.equal(await here(page), first);
    await page.goto(`${address}/#/chat/none`);
    await page.getByText("This chat is not in this browser").waitFor();
    assert.equal(await here(page), "#/chat");
    await page.locator(".notice button").click();
  },

  async "a draft stays with its chat"(page) {
    const field = page.locator("#message");
    await field.fill("for a new one");
    await entry(page, "Second chat.").getByRole("link").click();
    await page.locator(".message.user").waitFor();
    assert.equal(await field.inputValue(), "");
    await field.fill("for the second");
    await page.getByLabel("Text files", { exact: true }).setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("a") });
    await page.locator(".chip").waitFor();
    await page.keyboard.press("Control+Shift+O");
    await page.locator(".empty").waitFor();
    assert.equal(await field.inputValue(), "for a new one");
    assert.equal(await page.locator(".chip").count(), 0);
    await page.goBack();
    await page.locator(".chip").waitFor();
    await page.reload();
    await page.locator(".message.user").waitFor();
    assert.equal(await field.inputValue(), "for the second");
    await field.fill("");
  },

  async "tabs see what the others do, and lose nothing of it"(page) {
    await entry(page, "Of <b>the</b> sea").getByRole("link").click();
    const other = await newTab(page.context());
    await fake(other);
    await withKey(other, "/" + (await here(page)));
    await send(page, "From one.");
    await other.locator(".message.user .plain", { hasText: "From one." }).waitFor();
    await say(page, 0, "It is");
    await answer(other).getByText("It is").waitFor();
    await say(page, 0, " long.");
    await other.getByRole("button", { name: "Stop this answer" }).click();
    await stopped(page, 0);
    await other.getByText("stopped").waitFor();
    assert.equal(await error(other).count(), 0);

    await send(other, "From the other.");
    await say(other, 0, "Two");
    await end(other, 0);
    await page.locator(".message.user .plain", { hasText: "From the other." }).waitFor();
    await entry(other, "Second chat.").hover();
    await other.getByRole("button", { name: "Rename Second chat." }).click();
    await other.getByLabel("Name", { exact: true }).fill("Renamed there");
    await other.keyboard.press("Enter");
    await entry(page, "Renamed there").waitFor();
    await page.evaluate(() => {
      window.told = new Promise((resolve) => addEventListener("storage", () => resolve(), { once: true }));
    });
    await other.getByRole("button", { name: "Settings" }).click();
    await other.getByLabel("Temperature").fill("0.7");
    await other.getByRole("button", { name: "Save" }).click();
    await page.evaluate(() => window.told);
    await page.getByRole("button", { name: "Settings" }).click();
    assert.equal(await page.getByLabel("Temperature").inputValue(), "0.7");
    await page.getByRole("button", { name: "Reset" }).click();
    await Promise.all([page.reload(), other.reload()]);
    for (const tab of [page, other]) {
      await answer(tab).getByText("Two").waitFor();
      await until(tab, () => document.querySelectorAll(".message.user").length >= 3); // the end is drawn first
      assert.deepEqual(await tab.locator(".message.user .plain").allTextContents(), ["First chat.", "From one.", "From the other."]);
    }
    await other.getByRole("button", { name: /^Delete Of/ }).click({ force: true });
    await other.locator("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("The chat was deleted in another tab.").waitFor();
    await page.locator(".empty").waitFor();
    assert.equal(await entry(page, "Of <b>the</b> sea").count(), 0);
    await other.close();
  },

  async "an answer of a tab that is closed broke off in the others"(page) {
    const other = await newTab(page.context());
    await fake(other);
    await withKey(other, "/#/chat");
    await send(other, "Soon gone.");
    await say(other, 0, "A part");
    await entry(page, "Soon gone.").getByRole("link").click();
    await answer(page).getByText("A part").waitFor();
    assert.equal(await error(page).count(), 0);
    await other.close();
    await error(page).waitFor();
    assert.equal(await said(page), "A part");
  },

  async "chats of the version before are read"() {
    const page = await open();
    await page.goto(address + "/health");
    await page.evaluate(() => new Promise((resolve) => {
      const request = indexedDB.open("tenon", 1);
      request.onupgradeneeded = () => request.result.createObjectStore("chats", { keyPath: "id" });
      request.onsuccess = () => {
        const messages = [
          { id: "c", parent: "root", role: "user", text: "An old question" },
          { id: "b", parent: "c", role: "assistant", text: "first" },
          { id: "a", parent: "c", role: "assistant", text: "An old answer", error: "It failed." },
        ];
        const transaction = request.result.transaction("chats", "readwrite");
        transaction.objectStore("chats").put({ id: "old", title: "Old", updated: 1, messages, chosen: {} });
        transaction.oncomplete = () => {
          request.result.close();
          resolve();
        };
      };
    }));
    await withKey(page, "/#/chat/old");
    await answer(page).getByText("An old answer").waitFor();
    assert.equal(await error(page).textContent(), "It failed.");
    await page.getByText("2/2").waitFor();
    await page.context().close();
  },
};
