// The view of a chat: its messages, and the field for the next one.

import { Composer } from "./composer.js";
import { el, iconButton, notify } from "./dom.js";
import { MessageView } from "./message.js";
import { loadStatus, model, status } from "./server.js";
import { change, changed, fields, openSettings, settings } from "./settings.js";
import { Slices } from "./slices.js";
import * as tree from "./tree.js";

const REDRAW_MILLIS = 60;
const PAUSES = 5; // between two redraws passes at least so many times what the last one took

export class ChatView {
  /**
   * @param chats the chats of this browser
   * @param answers makes answers
   * @param onNew called when the first message of a chat was sent
   */
  constructor(chats, answers, onNew) {
    this.chats = chats;
    this.answers = answers;
    this.onNew = onNew;
    this.views = new WeakMap();
    this.slices = new Slices(() => this.place());
    this.pause = REDRAW_MILLIS;
    this.build();
    chats.listen(({ chat }) => chat === this.chat && this.told());
  }

  build() {
    this.title = el("h1", { class: "hidden" });
    this.models = el("select", { class: "model", "aria-label": "Model", onchange: () => this.pick() });
    this.meter = el("progress", { class: "context", max: 1, value: 0, "aria-label": "Used part of the context" });
    this.used = el("span", { class: "figures" });
    this.options = iconButton("sliders", "Settings", () => this.settings());
    this.head = el("header", { class: "top" }, this.title, this.models, el("span", { class: "grow" }), el("span", { class: "context-box" }, this.used, this.meter), this.options);
    this.list = el("div", { class: "messages", role: "log", "aria-label": "Messages" });
    this.scroll = el("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Conversation", onscroll: () => this.scrolled() }, this.list);
    this.jump = iconButton("down", "To the end", () => this.toEnd(), { class: "icon jump" });
    this.composer = new Composer((text, files) => this.submit(text, files), () => this.stop());
    this.element = el("section", { class: "chat", "aria-label": "Chat" }, this.head, this.scroll, el("div", { class: "bottom" }, this.jump, this.composer.element));
    this.element.addEventListener("dragover", (event) => event.preventDefault());
    this.element.addEventListener("drop", (event) => this.composer.take(event, event.dataTransfer));
    const sizes = new ResizeObserver(() => this.place());
    [this.scroll, this.list].forEach((box) => sizes.observe(box));
  }

  async settings() {
    await openSettings();
    this.marked();
  }

  marked() {
    this.options.classList.toggle("changed", changed() > 0);
  }

  /** Shows a chat, once its messages are known. */
  async open(chat) {
    this.chat = chat;
    this.focused = null;
    this.slices.stop();
    this.list.replaceChildren();
    this.composer.open(chat.kept ? chat.id : "");
    this.composer.focus();
    this.marked();
    try {
      await this.chats.load(chat);
    } catch (error) {
      notify(`The chat cannot be read: ${error.message}.`, true);
      return;
    }
    if (this.chat === chat) {
      this.following = true;
      this.draw();
      this.answers.watch(chat);
    }
  }

  /** Shows which models there are now. */
  showModels() {
    const names = status()?.models.map((each) => each.name) || [];
    const wanted = names.includes(settings().model) ? settings().model : names[0];
    this.models.replaceChildren(...names.map((name) => el("option", { value: name, selected: name === wanted }, name)));
    if (this.chat?.messages?.length === 0) {
      this.draw();
    }
    this.showContext();
    this.composer.takesPictures(Boolean(model(this.models.value)?.modalities.vision));
  }

  pick() {
    change({ model: this.models.value });
    this.composer.takesPictures(Boolean(model(this.models.value)?.modalities.vision));
    this.draw();
  }

  path() {
    return this.chat?.messages ? tree.branch(this.chat) : [];
  }

  submit(text, files) {
    const { chat } = this;
    if (!chat.messages) {
      return false; // they are still being read
    }
    const parent = this.path().at(-1) || null;
    const first = !chat.kept;
    chat.title ||= (text || files[0].name).split("\n")[0].slice(0, 80);
    this.answer([tree.add(chat, parent, { role: "user", text, files })]);
    if (first) {
      this.composer.open(chat.id);
      this.onNew(chat);
    }
    return true;
  }

  /** Sends another version of a message; the old one stays as a branch. */
  sendInstead(message, text) {
    const parent = tree.parentOf(this.chat, message);
    this.answer([tree.add(this.chat, parent, { role: "user", text, files: message.files || [] })]);
    this.composer.focus();
  }

  /** Answers a question once more; the answer is one branch more after it. */
  again(message) {
    const reply = this.answer([], tree.parentOf(this.chat, message));
    this.focus(reply, "stop");
  }

  /** Has the model answer a question, the last one of those that are new. */
  answer(added, question = added.at(-1)) {
    const reply = tree.add(this.chat, question, { role: "assistant", text: "", model: this.models.value });
    this.make(reply, added, this.before(reply));
    return reply;
  }

  /** Has the model go on with an answer that is not complete. */
  goOn(message) {
    if (settings().schemaOn) {
      notify("An answer in a form cannot be continued. Answer again, or switch the JSON schema off.", true);
      return;
    }
    const messages = [...this.before(message), { role: "assistant", content: message.text }];
    this.make(message, [], messages, { continue_final_message: true });
    this.focus(message, "stop");
  }

  /** What the model is told before an answer. */
  before(reply) {
    const path = this.path();
    const messages = path.slice(0, path.indexOf(reply)).map((each) => ({ role: each.role, content: tree.parts(each) }));
    return settings().system ? [{ role: "system", content: settings().system }, ...messages] : messages;
  }

  make(reply, added, messages, more = {}) {
    const request = { model: reply.model || this.models.value, messages, stream: true, stream_options: { include_usage: true }, ...more, ...fields() };
    this.following = true;
    this.answers
      .make(this.chat, reply, added, request)
      .then(loadStatus)
      .then(() => this.showModels(), () => {}); // the next poll tells of a server that is gone
    this.draw();
  }

  /** Stops the answer at the end of what is shown. */
  stop() {
    const last = this.path().at(-1);
    if (last?.running) {
      this.answers.stop(last);
    }
  }

  siblings(message) {
    return tree.siblings(this.chat, message);
  }

  /** Shows the branch that begins with a message; the focus goes to its button of a key. */
  choose(message, key) {
    this.chats.save(this.chat, [], { chosen: tree.choice(message) });
    this.following = false;
    this.draw();
    this.focus(message, key);
  }

  /** Moves the focus to a button of a message, once it is drawn. */
  focus(message, key) {
    this.focused = { message, key };
    this.place();
  }

  /** Shows what was changed here or in another tab. */
  told() {
    this.progress(this.chat);
    if (this.chat.messages) {
      this.answers.watch(this.chat);
    }
  }

  /** Shows what has come, at most every few milliseconds. */
  progress(chat) {
    if (this.chat !== chat) {
      return;
    }
    this.timer ??= setTimeout(() => {
      this.timer = null;
      const begun = performance.now();
      this.draw();
      this.pause = Math.max(REDRAW_MILLIS, PAUSES * (performance.now() - begun));
    }, this.pause);
  }

  view(message) {
    if (!this.views.has(message)) {
      this.views.set(message, new MessageView(message, this));
    }
    return this.views.get(message);
  }

  /** Shows the chat as it is now: the end at once, the rest when there is time. What is shown and did not change stays. */
  draw() {
    if (!this.chat?.messages) {
      return; // they are still being read, or the chat was deleted
    }
    const path = this.path();
    const running = Boolean(path.at(-1)?.running);
    this.title.textContent = this.chat.title || "New chat";
    this.element.classList.toggle("fresh", path.length === 0);
    this.list.setAttribute("aria-busy", String(running));
    this.composer.busy(running);
    this.showContext();
    const shown = new Set(path.map((message) => this.view(message).element));
    for (const node of [...this.list.children]) {
      if (!shown.has(node)) {
        node.remove();
      }
    }
    if (path.length) {
      this.slices.start(this.steps(path));
    } else {
      this.slices.stop();
      this.list.replaceChildren(this.empty());
    }
  }

  *steps(path) {
    let next = null;
    for (const message of path.toReversed()) {
      const view = this.view(message);
      if (!view.element.isConnected || view.element.nextSibling !== next) {
        this.list.insertBefore(view.element, next);
        yield;
      }
      yield* view.steps();
      next = view.element;
    }
  }

  empty() {
    const about = model(this.models.value);
    const facts = about?.loaded ? [about.architecture, about.device, `context ${about.context_length.toLocaleString()}`].join(" · ") : "loaded with the first message";
    return el(
      "div",
      { class: "empty" },
      el("h2", {}, this.models.value || "No model"),
      el("p", {}, this.models.value ? facts : "The server has no model yet."),
      about?.chat === false ? el("p", { class: "hint" }, "This model has no chat template: it goes on with what is written.") : null,
    );
  }

  showContext() {
    const stats = this.path().findLast((each) => each.stats)?.stats;
    const used = stats ? (stats.prompt || 0) + stats.tokens : 0;
    const length = model(this.models.value)?.context_length || 0;
    this.meter.hidden = !length || !used;
    this.meter.value = length ? Math.min(1, used / length) : 0;
    this.used.textContent = used && length ? `${used.toLocaleString()} of ${length.toLocaleString()} tokens` : "";
  }

  // Where it is scrolled to

  scrolled() {
    this.following = this.atEnd();
    this.jump.classList.toggle("shown", !this.following);
  }

  /** Keeps the end in sight where it was. */
  place() {
    if (this.following) {
      this.scroll.scrollTop = this.scroll.scrollHeight;
    }
    this.jump.classList.toggle("shown", !this.atEnd());
    if (this.focused && this.view(this.focused.message).focus(this.focused.key)) {
      this.focused = null;
    }
  }

  atEnd() {
    return this.scroll.scrollHeight - this.scroll.scrollTop - this.scroll.clientHeight < 60;
  }

  toEnd() {
    this.following = true;
    this.scroll.focus({ preventScroll: true }); // the button is about to go
    this.place();
  }
}
