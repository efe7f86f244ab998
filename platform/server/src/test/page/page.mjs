// Uses the page as people do: node page.mjs ADDRESS BROWSER AXE, the last one a file of axe-core. The server has the key `key`
// and a manager of bundles that notes what it is told. Ends with status 1 and the reason where something is not as it should be.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { access } from "./access.mjs";
import { address, answers, ask, browser, elsewhere, END, ended, open, problems, run, until, withKey } from "./browser.mjs";
import { lasting } from "./lasting.mjs";

/** In the page: whether each plot has its grid in the colour that lines have in the theme of the moment. */
function drawnInTheirColour() {
  const line = getComputedStyle(document.querySelector(".panel")).borderTopColor.match(/\d+/g).map(Number);
  return [...document.querySelectorAll(".plot canvas")].every((canvas) => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let i = 0; i < data.length; i += 4) {
      found += data[i + 3] === 255 && line.every((value, j) => data[i + j] === value) ? 1 : 0;
    }
    return found > 100;
  });
}

/** Two by two pixels, as PNG in base64. */
const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEUlEQVR4nGP4z8AARAxg8j8AG/ID/fPnS7EAAAAASUVORK5CYII=";

const steps = {
  async "a key is asked for, again where it is wrong, and is kept for the tab"(page) {
    await page.goto(address);
    await page.locator("dialog input").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByText("does not know this key").waitFor();
    await page.locator("dialog input").fill("key");
    await page.keyboard.press("Enter");
    await page.locator("select.model option").first().waitFor({ state: "attached" });
    assert.equal(await page.locator("select.model").inputValue(), "story");
    assert.equal(await page.evaluate(() => sessionStorage.getItem("tenon.key")), "key");
    assert.ok(!(await page.evaluate(() => JSON.stringify(localStorage))).includes("key"));
  },

  async "a message is answered, with figures"(page) {
    await page.locator("#message").fill("A tale");
    await page.keyboard.press("Shift+Enter");
    assert.equal(await page.locator("#message").inputValue(), "A tale\n");
    await ask(page, "Tell a tale of the sea.");
    assert.equal(await answers(page).count(), 1);
    assert.ok((await answers(page).locator(".markdown").last().textContent()).length > 10);
    const figures = await answers(page).locator(".figures").textContent();
    assert.match(figures, /first token .* tok\/s .* tokens .* prompt/);
    assert.match(await page.locator(".top .figures").textContent(), /of 512 tokens/);
  },

  async "answering again makes a branch"(page) {
    await answers(page).getByRole("button", { name: "Answer again" }).click();
    await ended(page);
    await page.getByText("2/2").waitFor();
    const second = await answers(page).locator(".markdown").last().textContent();
    await page.getByRole("button", { name: "Branch before" }).click();
    await page.getByText("1/2").waitFor();
    assert.notEqual(await answers(page).locator(".markdown").last().textContent(), second);
  },

  async "an edited message is a branch with its own answer"(page) {
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Edited message").fill("Tell a tale of a king.");
    await page.keyboard.press("Enter");
    await ended(page);
    assert.equal(await page.locator(".message.user .plain").textContent(), "Tell a tale of a king.");
    await page.locator(".message.user").getByRole("button", { name: "Branch before" }).click();
    assert.equal(await page.locator(".message.user .plain").textContent(), "Tell a tale of the sea.");
    assert.equal(await answers(page).count(), 1);
  },

  async "Esc stops an answer, and the server notices"(page) {
    await page.keyboard.press("Control+Shift+O");
    await page.locator(".empty").waitFor();
    let stopped = false;
    for (let i = 0; i < 10 && !stopped; i++) {
      await page.locator("#message").fill("Tell a long tale.");
      await page.keyboard.press("Enter");
      await answers(page).last().locator(".block").first().waitFor();
      await page.keyboard.press("Escape"); // a short answer may have ended before that
      await ended(page);
      stopped = /stopped/.test(await answers(page).last().textContent());
    }
    assert.ok(stopped, "no answer was stopped");
    await until(page, async () => {
      const answer = await fetch("/tenon/status", { headers: { Authorization: "Bearer key" } });
      return (await answer.json()).models.every((model) => model.running === 0);
    });
  },

  async "text files are attached, others are refused"(page) {
    await page.keyboard.press("Control+Shift+O");
    const picker = page.getByLabel("Text files", { exact: true });
    await picker.setInputFiles({ name: "bad.bin", mimeType: "text/plain", buffer: Buffer.from([0xff, 0xfe, 0]) });
    await page.getByText("bad.bin was not attached").waitFor();
    await page.locator(".notice button").first().click();
    await picker.setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("The sea is ``` wide.") });
    await page.locator(".chip").waitFor();
    const request = page.waitForRequest("**/v1/chat/completions");
    await page.locator("#message").fill("Go on.");
    await page.keyboard.press("Enter");
    const sent = (await request).postDataJSON();
    assert.deepEqual(sent.messages, [{ role: "user", content: "notes.txt:\n````\nThe sea is ``` wide.\n````\n\nGo on." }]);
    await ended(page);
    assert.equal(await page.locator(".chip").count(), 0);
  },

  async "pictures are attached, pasted and dropped where the model takes them"(page) {
    await page.keyboard.press("Control+Shift+O");
    const button = page.getByRole("button", { name: "Attach pictures" });
    const picker = page.getByLabel("Pictures", { exact: true });
    const buffer = Buffer.from(PICTURE, "base64");
    assert.ok(await button.isHidden());
    await picker.setInputFiles({ name: "a.png", mimeType: "image/png", buffer });
    await page.getByText("the model takes no pictures").waitFor();
    await page.locator(".notice button").first().click();
    await page.route("**/tenon/status", async (route) => {
      const answer = await route.fetch();
      const status = await answer.json();
      status.models.forEach((model) => (model.modalities.vision = true));
      await route.fulfill({ response: answer, json: status });
    });
    await page.reload(); // a model tells it once it is loaded
    await button.waitFor();
    assert.equal(await picker.getAttribute("accept"), "image/*");
    await picker.setInputFiles({ name: "a.png", mimeType: "image/png", buffer });
    await page.getByRole("button", { name: "Remove a.png" }).click();
    assert.equal(await page.locator(".chip").count(), 0);
    await page.evaluate(
      ({ base64 }) => {
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
        const files = (name) => {
          const data = new DataTransfer();
          data.items.add(new File([bytes], name, { type: "image/png" }));
          return data;
        };
        const field = document.querySelector("#message");
        field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: files("b.png"), bubbles: true, cancelable: true }));
        field.dispatchEvent(new DragEvent("drop", { dataTransfer: files("c.png"), bubbles: true, cancelable: true }));
      },
      { base64: PICTURE },
    );
    await page.locator(".chip").nth(1).waitFor();
    const shown = (images) => images.every((image) => image.complete && image.naturalWidth === 2);
    await until(page, () => [...document.querySelectorAll(".chip img")].filter((image) => image.naturalWidth === 2).length === 2);
    await page.route("**/v1/chat/completions", (route) => route.fulfill({ contentType: "text/event-stream", body: END }));
    const request = page.waitForRequest("**/v1/chat/completions");
    await ask(page, "Which is it?");
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PICTURE}` } };
    assert.deepEqual((await request).postDataJSON().messages, [{ role: "user", content: [image, image, { type: "text", text: "Which is it?" }] }]);
    assert.equal(await page.locator(".chip").count(), 0);
    assert.deepEqual(await page.locator(".message.user img").evaluateAll((images) => images.map((each) => each.alt).sort()), ["b.png", "c.png"]);
    assert.ok(await page.locator(".message.user img").evaluateAll(shown));
    await page.unroute("**/v1/chat/completions");
    await page.unroute("**/tenon/status");
  },

  async "settings and a schema shape the answer"(page) {
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByLabel("System prompt").fill("Be short.");
    await page.getByLabel("Temperature").fill("0.5");
    await page.getByLabel("JSON that satisfies").check();
    await page.getByLabel("JSON schema", { exact: true }).fill("{");
    await page.getByRole("button", { name: "Save" }).click();
    assert.ok(await page.locator("dialog").isVisible(), "a broken schema is not saved");
    await page.getByLabel("JSON schema", { exact: true }).fill('{"type":"object","properties":{"n":{"enum":[7]}},"required":["n"],"additionalProperties":false}');
    await page.getByRole("button", { name: "Save" }).click();
    await page.keyboard.press("Control+Shift+O");
    const request = page.waitForRequest("**/v1/chat/completions");
    await ask(page, "A number.");
    const sent = (await request).postDataJSON();
    assert.equal(sent.temperature, 0.5);
    assert.deepEqual(sent.messages[0], { role: "system", content: "Be short." });
    assert.deepEqual(JSON.parse(await answers(page).locator(".markdown").last().textContent()), { n: 7 });
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Reset" }).click();
  },

  async "what a model writes is never run or loaded"(page) {
    const hostile = [
      "<script>window.hacked=1</script>",
      "<img src=x onerror='window.hacked=2'>",
      "[link](javascript:window.hacked=3) [data](data:text/html,<script>window.hacked=4</script>)",
      "![picture](https://elsewhere.example/x.png)",
      "<svg onload='window.hacked=5'></svg><iframe src='https://elsewhere.example/'></iframe>",
      "<form action='https://elsewhere.example/'><input name=a><button>send</button></form>",
      "<style>body{display:none}</style><link rel=stylesheet href='https://elsewhere.example/x.css'>",
      "<b onclick='window.hacked=6' style='position:fixed'>bold</b>",
      "[good](https://example.org \"title\\\" onmouseover=window.hacked=7\") <a href='javascript:window.hacked=8' id=message>a</a>",
      "```\"><img/src=x/onerror=window.hacked=9>\n</code></pre><script>window.hacked=10</script>\n```",
      "| a |\n| --: |\n| <img src=x onerror=window.hacked=11> |",
      "- [x] done",
      "<math><mtext><table><mglyph><style><img src=x onerror=window.hacked=12></style></mglyph></table></mtext></math>",
    ].join("\n\n");
    const event = (delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
    const body = event({ reasoning_content: hostile }) + [...hostile].map((c) => event({ content: c })).join("") + END;
    await page.route("**/v1/chat/completions", (route) => route.fulfill({ contentType: "text/event-stream", body }));
    await page.keyboard.press("Control+Shift+O");
    await ask(page, "<img src=x onerror='window.hacked=13'>");
    await page.locator(".reasoning summary").click();
    for (const link of await page.locator(".markdown a").all()) {
      assert.match(await link.getAttribute("href") ?? "https:", /^https:/);
      assert.match(await link.getAttribute("rel"), /noopener/);
      await link.hover();
    }
    const bad = await page.locator(".markdown").evaluateAll((all) =>
      all.flatMap((each) => [...each.querySelectorAll("*")]).filter(
        (node) =>
          ["SCRIPT", "IMG", "SVG", "IFRAME", "FORM", "STYLE", "LINK", "OBJECT", "MATH"].includes(node.tagName.toUpperCase()) && !node.closest("button") ||
          [...node.attributes].some((attribute) => /^on|^style$|^id$|^name$/.test(attribute.name)),
      ).map((node) => node.outerHTML),
    );
    assert.deepEqual(bad, []);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.locator(".markdown input[type=checkbox]:disabled").count(), 2);
    assert.equal(await page.locator(".markdown td").first().evaluate((cell) => getComputedStyle(cell).textAlign), "right");
    assert.equal(await page.locator(".message.user .plain").textContent(), "<img src=x onerror='window.hacked=13'>");
    await page.unroute("**/v1/chat/completions");
  },

  async "code is coloured and copied"(page) {
    const text = "```java\nint x = 1;\n```\n";
    const body = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n${END}`;
    await page.route("**/v1/chat/completions", (route) => route.fulfill({ contentType: "text/event-stream", body }));
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.keyboard.press("Control+Shift+O");
    await ask(page, "Code.");
    assert.equal(await page.locator(".code .hljs-type").textContent(), "int");
    await page.getByRole("button", { name: "Copy code" }).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "int x = 1;");
    await page.unroute("**/v1/chat/completions");
  },

  async "an error of the server is told, and answering again works"(page) {
    await page.route("**/v1/chat/completions", (route) =>
      route.fulfill({ contentType: "text/event-stream", body: 'data: {"error":{"message":"It <i>failed</i>."}}\n\n' }));
    await page.keyboard.press("Control+Shift+O");
    await ask(page, "Fail.");
    assert.equal(await page.locator(".after .error").textContent(), "The answer broke off: It <i>failed</i>.");
    await page.unroute("**/v1/chat/completions");
    await page.getByRole("button", { name: "Answer again" }).click();
    await ended(page);
    assert.equal(await page.locator(".after .error").count(), 0);
  },

  async "the theme is switched and kept"(page) {
    const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await colour();
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await colour();
    assert.notEqual(dark, light);
    await page.locator("#theme").click(); // auto -> light
    assert.equal(await colour(), light);
    await page.locator("#theme").click(); // light -> dark
    await page.emulateMedia({ colorScheme: "light" });
    assert.equal(await colour(), dark);
    await page.reload();
    assert.equal(await colour(), dark);
    await page.locator("#theme").click();
  },

  async "chats are kept, found, exported, imported and deleted"(page) {
    await page.locator(".entry").first().waitFor();
    const count = await page.locator(".entry").count();
    assert.ok(count >= 5, `only ${count} chats`);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    const text = await readFile(await (await download).path(), "utf8");
    assert.equal(JSON.parse(text).chats.length, count);
    const file = page.getByLabel("File of chats");
    await file.setInputFiles({ name: "bad.json", mimeType: "application/json", buffer: Buffer.from('{"tenon_chats":1,"chats":[{"id":"a","messages":[{}]}]}') });
    await page.getByText("bad.json was not imported").waitFor();
    await page.locator(".notice button").first().click();
    await file.setInputFiles({ name: "chats.json", mimeType: "application/json", buffer: Buffer.from(text) });
    await page.getByText("chats were imported").waitFor();
    assert.equal(await page.locator(".entry").count(), 2 * count);
    await page.locator("#search").fill("Fail.");
    assert.equal(await page.locator(".entry").count(), 2);
    await page.locator(".entry").first().hover();
    await page.getByRole("button", { name: "Delete Fail." }).first().click();
    await page.locator("dialog").getByRole("button", { name: "Delete" }).click();
    await page.waitForFunction(() => document.querySelectorAll(".entry").length === 1);
    await page.locator("#search").fill("");
  },

  async "the side bar is hidden and shown"(page) {
    await page.keyboard.press("Control+B");
    assert.ok(!(await page.locator("#side").isVisible()));
    await page.keyboard.press("Control+B");
    assert.ok(await page.locator("#side").isVisible());
  },

  async "bundles are installed and removed"(page) {
    await page.locator("#views").getByText("Bundles").click();
    await page.getByText("It is <b>refused</b>.").waitFor();
    assert.equal(await page.getByRole("button", { name: /^Remove/ }).count(), 1);
    await page.getByLabel("Jar of a bundle").setInputFiles({ name: "my.jar", mimeType: "application/java-archive", buffer: Buffer.from("a jar") });
    await page.getByText("org.example.format 1.2.0 was installed").waitFor();
    await page.getByRole("button", { name: "Remove org.example.format" }).click();
    await page.locator("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("org.example.format 1.2.0 was removed").waitFor();
  },

  async "models say why they run where they do"(page) {
    await page.locator("#views").getByText("Models").click();
    await page.locator(".card").getByText("qwen3", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Why here?" }).click();
    await page.getByText("taken: rank 100").waitFor();
    await page.keyboard.press("Escape");
  },

  async "models are unloaded and loaded"(page) {
    await page.getByRole("button", { name: "Unload" }).click();
    await page.locator(".badge").getByText("not loaded").waitFor();
    await page.getByRole("button", { name: "Load", exact: true }).click();
    await page.locator(".badge").getByText("loaded", { exact: true }).waitFor();
  },

  async "a model is downloaded, offered and deleted"(page) {
    const source = page.getByLabel("Repository and quantisation");
    const download = page.getByRole("button", { name: "Download" });
    await source.fill("org/none:Q8_0");
    await download.click();
    await page.locator(".pull-state").getByText("org/none").waitFor();
    await source.fill("org/tiny-GGUF:Q4_K_M");
    await download.click();
    await page.getByText("org/tiny-GGUF:Q4_K_M was downloaded").waitFor();
    await page.getByRole("heading", { name: "org/tiny-GGUF/tiny-Q4_K_M" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Delete", exact: true }).count(), 1, "of the pinned model, too");
    const offered = () => page.locator("select.model option").allTextContents();
    await page.goto(`${address}/#/chat`);
    assert.ok((await offered()).some((name) => name.includes("tiny-Q4_K_M")), String(await offered()));
    await page.goto(`${address}/#/models`);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.locator("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "org/tiny-GGUF/tiny-Q4_K_M" }).waitFor({ state: "detached" });
    await page.goto(`${address}/#/chat`);
    assert.ok(!(await offered()).some((name) => name.includes("tiny-Q4_K_M")), String(await offered()));
  },

  async "devices and activity are shown"(page) {
    await page.locator("#views").getByText("Devices").click();
    await page.getByRole("heading", { name: "cpu-vector" }).waitFor();
    await page.locator("#views").getByText("Activity").click();
    await page.getByText("Requests served").waitFor();
    assert.equal(await page.locator(".plot canvas").count(), 6);
    for (const colorScheme of ["dark", "light"]) {
      await page.emulateMedia({ colorScheme });
      await page.waitForFunction(drawnInTheirColour);
    }
  },
};

await run(steps, await open());
await run(lasting, await open());
await run(access, await open());
await browser.close();
assert.deepEqual(problems, [], "what the browser complained about");
assert.deepEqual(elsewhere, [], "requests to others");
