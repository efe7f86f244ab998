// The view of a chat: messages, the field for the next one, and the answer as it comes.

import { events, send } from "./api.js";
import { copyFrom, el, icon, iconButton, notify } from "./dom.js";
import { showMarkdown } from "./markdown.js";
import { loadStatus, model, status } from "./server.js";
import { change, changed, fields, openSettings, settings } from "./settings.js";
import { saveChat } from "./store.js";
import * as tree from "./tree.js";

const MOST_FILE_CHARACTERS = 400_000;
const REDRAW_MILLIS = 60;

export class ChatView {
  /** @param onChange called when the list of chats has to be shown again */
  constructor(onChange) {
    this.onChange = onChange;
    this.files = [];
    this.running = null;
    this.unfolded = new Set();
    this.build();
  }

  build() {
    this.models = el("select", { class: "model", "aria-label": "Model", onchange: () => this.pick() });
    this.meter = el("progress", { class: "context", max: 1, value: 0, "aria-label": "Used part of the context" });
    this.used = el("span", { class: "figures" });
    this.options = el("button", { type: "button", class: "icon", title: "Settings", "aria-label": "Settings", onclick: () => this.settings() }, icon("sliders"));
    this.head = el("header", { class: "top" }, this.models, el("span", { class: "grow" }), el("span", { class: "context-box" }, this.used, this.meter), this.options);
    this.list = el("div", { class: "messages", role: "log", "aria-label": "Messages" });
    this.scroll = el("div", { class: "scroll", tabIndex: -1 }, this.list);
    this.scroll.addEventListener("scroll", () => this.jump.classList.toggle("shown", !this.atEnd()));
    this.jump = iconButton("down", "To the end", () => this.toEnd(), { class: "icon jump" });
    this.field = el("textarea", {
      id: "message",
      rows: 1,
      placeholder: "Message",
      "aria-label": "Message",
      oninput: () => this.grow(),
      onkeydown: (event) => this.keyDown(event),
      onpaste: (event) => this.take(event, event.clipboardData),
    });
    this.chips = el("div", { class: "chips" });
    this.picker = el("input", { type: "file", multiple: true, class: "hidden", tabIndex: -1, "aria-label": "Text files", onchange: () => this.attach([...this.picker.files]).then(() => (this.picker.value = "")) });
    this.button = iconButton("send", "Send", () => (this.running ? this.stop() : this.submit()), { class: "icon send" });
    this.composer = el(
      "div",
      { class: "composer" },
      this.chips,
      el("div", { class: "line" }, iconButton("clip", "Attach text files", () => this.picker.click()), this.picker, this.field, this.button),
    );
    this.element = el("section", { class: "chat", "aria-label": "Chat" }, this.head, this.scroll, el("div", { class: "bottom" }, this.jump, this.composer));
    this.element.addEventListener("dragover", (event) => event.preventDefault());
    this.element.addEventListener("drop", (event) => {
      event.preventDefault();
      this.take(event, event.dataTransfer);
    });
  }

  async settings() {
    await openSettings();
    this.marked();
  }

  marked() {
    this.options.classList.toggle("changed", changed() > 0);
  }

  /** Shows a chat. */
  open(chat) {
    if (this.running && this.running.chat !== chat) {
      this.stop();
    }
    this.chat = chat;
    this.draw();
    this.toEnd();
    this.marked();
    this.field.focus({ preventScroll: true });
  }

  /** Shows which models there are now. */
  showModels() {
    const names = status()?.models.map((each) => each.name) || [];
    const wanted = names.includes(settings().model) ? settings().model : names[0];
    this.models.replaceChildren(...names.map((name) => el("option", { value: name, selected: name === wanted }, name)));
    if (this.chat && this.chat.messages.length === 0) {
      this.draw();
    }
    this.showContext();
  }

  pick() {
    change({ model: this.models.value });
    this.draw();
  }

  keyDown(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      if (!this.running) {
        this.submit();
      }
    }
  }

  grow() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight, 240)}px`;
  }

  take(event, data) {
    const files = [...(data?.files || [])];
    if (files.length) {
      event.preventDefault();
      this.attach(files);
    }
  }

  async attach(files) {
    for (const file of files) {
      try {
        if (file.size > 4 * MOST_FILE_CHARACTERS) {
          throw new Error("it is too large");
        }
        const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
        if (text.includes("\0") || text.length > MOST_FILE_CHARACTERS) {
          throw new Error(text.includes("\0") ? "it is no text" : "it is too large");
        }
        this.files.push({ name: file.name, text });
      } catch (error) {
        notify(`${file.name} was not attached: ${error instanceof TypeError ? "it is no text in UTF-8" : error.message}.`, true);
      }
    }
    this.showFiles();
    this.field.focus();
  }

  showFiles() {
    this.chips.replaceChildren(
      ...this.files.map((file) =>
        el(
          "span",
          { class: "chip" },
          file.name,
          iconButton("close", `Remove ${file.name}`, () => {
            this.files = this.files.filter((each) => each !== file);
            this.showFiles();
          }),
        ),
      ),
    );
  }

  submit() {
    const text = this.field.value.trim();
    if ((!text && this.files.length === 0) || this.running) {
      return;
    }
    const parent = tree.branch(this.chat).at(-1) || null;
    const message = tree.add(this.chat, parent, { role: "user", text, files: this.files });
    this.chat.title ||= (text || this.files[0].name).split("\n")[0].slice(0, 80);
    this.field.value = "";
    this.files = [];
    this.showFiles();
    this.grow();
    this.answer(message);
  }

  /** Has the model answer a message of the user; the answer is one branch more after it. */
  async answer(question) {
    const chat = this.chat;
    const reply = tree.add(chat, question, { role: "assistant", text: "", model: this.models.value });
    const path = tree.branch(chat);
    const messages = path.slice(0, path.indexOf(reply)).map((each) => ({ role: each.role, content: tree.content(each) }));
    if (settings().system) {
      messages.unshift({ role: "system", content: settings().system });
    }
    const abort = new AbortController();
    const run = { chat, reply, abort, begun: performance.now(), first: 0, last: 0, deltas: 0, usage: null };
    this.running = run;
    this.draw();
    this.toEnd();
    this.busy(true);
    try {
      const request = { model: reply.model, messages, stream: true, stream_options: { include_usage: true }, ...fields() };
      const answer = await send("/v1/chat/completions", { json: request, signal: abort.signal });
      for await (const event of events(answer)) {
        this.event(run, event);
      }
    } catch (error) {
      if (abort.signal.aborted) {
        reply.stopped = true;
      } else {
        reply.error = error.message;
      }
    }
    this.measure(run);
    if (this.running === run) {
      this.running = null;
      this.busy(false);
    }
    if (this.chat === chat) {
      const end = this.atEnd();
      this.draw();
      if (end) {
        this.toEnd();
      }
    }
    this.keep(chat);
    loadStatus().then(() => this.showModels(), () => {}); // the next poll tells of a server that is gone
  }

  event(run, event) {
    run.usage = event.usage || run.usage;
    const choice = event.choices?.[0];
    const delta = choice?.delta || {};
    if (delta.content || delta.reasoning_content) {
      run.last = performance.now();
      run.first ||= run.last;
      run.deltas++;
      run.reply.text += delta.content || "";
      if (delta.reasoning_content) {
        run.reply.reasoning = (run.reply.reasoning || "") + delta.reasoning_content;
      }
      this.redraw(run);
    }
    if (choice?.finish_reason === "length") {
      run.reply.cut = true;
    }
  }

  /** Shows what has come, at most every few milliseconds. */
  redraw(run) {
    if (run.timer || this.chat !== run.chat) {
      return;
    }
    run.timer = setTimeout(() => {
      run.timer = null;
      if (this.running === run && this.chat === run.chat) {
        const end = this.atEnd();
        this.measure(run);
        this.drawn.get(run.reply.id)?.();
        this.showContext();
        if (end) {
          this.toEnd();
        }
      }
    }, REDRAW_MILLIS);
  }

  measure(run) {
    if (run.first) {
      const tokens = run.usage?.completion_tokens ?? run.deltas;
      const seconds = (run.last - run.first) / 1000;
      run.reply.stats = {
        ttft: run.first - run.begun,
        rate: seconds > 0.02 && tokens > 1 ? (tokens - 1) / seconds : 0,
        tokens,
        ...(run.usage && { prompt: run.usage.prompt_tokens, cached: run.usage.prompt_tokens_details?.cached_tokens || 0 }),
      };
    }
  }

  stop() {
    this.running?.abort.abort();
  }

  busy(is) {
    this.list.setAttribute("aria-busy", String(is));
    this.button.replaceChildren(icon(is ? "stop" : "send"));
    this.button.title = is ? "Stop (Esc)" : "Send";
    this.button.setAttribute("aria-label", is ? "Stop" : "Send");
    this.button.classList.toggle("running", is);
  }

  async keep(chat) {
    try {
      await saveChat(chat);
    } catch (error) {
      notify(`The chat is not kept in this browser: ${error.message}`, true);
    }
    this.onChange();
  }

  atEnd() {
    return this.scroll.scrollHeight - this.scroll.scrollTop - this.scroll.clientHeight < 60;
  }

  toEnd() {
    this.scroll.scrollTop = this.scroll.scrollHeight;
  }

  draw() {
    this.drawn = new Map();
    const path = tree.branch(this.chat);
    this.list.replaceChildren(...(path.length ? path.map((message) => this.message(message)) : [this.empty()]));
    this.element.classList.toggle("fresh", path.length === 0);
    this.showContext();
  }

  empty() {
    const about = model(this.models.value);
    const facts = about?.loaded ? [about.architecture, about.device, `context ${about.context_length.toLocaleString()}`].join(" · ") : "loaded with the first message";
    return el(
      "div",
      { class: "empty" },
      el("h1", {}, this.models.value || "No model"),
      el("p", {}, this.models.value ? facts : "The server has no model yet."),
      about?.chat === false ? el("p", { class: "hint" }, "This model has no chat template: it goes on with what is written.") : null,
    );
  }

  showContext() {
    const path = this.chat ? tree.branch(this.chat) : [];
    const stats = path.findLast((each) => each.stats)?.stats;
    const used = stats ? (stats.prompt || 0) + stats.tokens : 0;
    const length = model(this.models.value)?.context_length || 0;
    this.meter.hidden = !length || !used;
    this.meter.value = length ? Math.min(1, used / length) : 0;
    this.used.textContent = used && length ? `${used.toLocaleString()} of ${length.toLocaleString()} tokens` : "";
  }

  message(message) {
    const body = el("div", { class: "body" });
    const node = el("article", { class: `message ${message.role}`, "aria-label": message.role === "user" ? "You" : "Answer" }, body);
    if (message.role === "user") {
      body.append(
        ...(message.files || []).map((file) => el("details", { class: "file" }, el("summary", {}, file.name), el("pre", {}, file.text))),
        el("div", { class: "plain" }, message.text),
      );
    } else {
      const thoughts = el("div", { class: "markdown" });
      const summary = el("summary", {});
      const reasoning = el("details", { class: "reasoning", hidden: true, open: this.unfolded.has(message.id) }, summary, thoughts);
      reasoning.addEventListener("toggle", () => (reasoning.open ? this.unfolded.add(message.id) : this.unfolded.delete(message.id)));
      const text = el("div", { class: "markdown" });
      const after = el("div", { class: "after" });
      body.append(reasoning, text, after);
      const show = () => {
        const running = this.running?.reply === message;
        reasoning.hidden = !message.reasoning;
        summary.textContent = running && !message.text ? "Reasoning …" : "Reasoning";
        if (message.reasoning) {
          showMarkdown(thoughts, message.reasoning);
        }
        showMarkdown(text, message.text);
        node.classList.toggle("waiting", running && !message.text && !message.reasoning);
        after.replaceChildren(...this.footer(message, running));
      };
      this.drawn.set(message.id, show);
      show();
    }
    node.append(this.actions(message));
    return node;
  }

  footer(message, running) {
    const parts = [];
    if (message.error) {
      parts.push(el("p", { class: "error", role: "alert" }, message.error));
    }
    if (message.cut && !running) {
      parts.push(el("p", { class: "hint" }, "The answer was cut at the longest length."));
    }
    if (message.stats) {
      const { ttft, rate, tokens, prompt, cached } = message.stats;
      const figures = [
        `first token ${ttft < 1000 ? `${Math.round(ttft)} ms` : `${(ttft / 1000).toFixed(1)} s`}`,
        rate ? `${rate.toFixed(1)} tok/s` : null,
        `${tokens.toLocaleString()} tokens`,
        prompt ? `prompt ${prompt.toLocaleString()}${cached ? ` (${cached.toLocaleString()} cached)` : ""}` : null,
        message.stopped ? "stopped" : null,
      ];
      parts.push(el("p", { class: "figures" }, figures.filter(Boolean).join(" · ")));
    }
    return parts;
  }

  actions(message) {
    if (this.running?.reply === message) {
      return el("div", { class: "actions" });
    }
    const [index, all] = tree.siblings(this.chat, message);
    const go = (step) => {
      tree.choose(this.chat, all[index + step]);
      this.draw();
      this.keep(this.chat);
    };
    const copy = iconButton("copy", "Copy", () => copyFrom(copy, message.role === "user" ? tree.content(message) : message.text));
    return el(
      "div",
      { class: "actions" },
      all.length > 1
        ? el(
            "span",
            { class: "branches" },
            iconButton("left", "Branch before", () => go(-1), { disabled: index === 0 }),
            el("span", { "aria-label": `Branch ${index + 1} of ${all.length}` }, `${index + 1}/${all.length}`),
            iconButton("right", "Next branch", () => go(1), { disabled: index === all.length - 1 }),
          )
        : null,
      copy,
      message.role === "user" ? iconButton("edit", "Edit", () => this.edit(message)) : null,
      message.role === "assistant"
        ? iconButton("again", "Answer again", () => !this.running && this.answer(tree.parentOf(this.chat, message)))
        : null,
    );
  }

  /** Lets the user write another version of a message; the old one stays as a branch. */
  edit(message) {
    if (this.running) {
      return;
    }
    const node = this.list.children[tree.branch(this.chat).indexOf(message)];
    const field = el("textarea", { rows: Math.min(12, message.text.split("\n").length + 1), value: message.text, "aria-label": "Edited message" });
    const submit = () => {
      const text = field.value.trim();
      if (!text) {
        return;
      }
      const parent = tree.parentOf(this.chat, message);
      this.answer(tree.add(this.chat, parent, { role: "user", text, files: message.files || [] }));
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        submit();
      } else if (event.key === "Escape") {
        event.stopPropagation();
        this.draw();
      }
    });
    node.replaceChildren(
      el(
        "div",
        { class: "editor" },
        field,
        el(
          "div",
          { class: "buttons" },
          el("button", { type: "button", onclick: () => this.draw() }, "Cancel"),
          el("button", { type: "button", class: "primary", onclick: submit }, "Send"),
        ),
      ),
    );
    field.focus();
  }
}
