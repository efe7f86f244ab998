// One message as it is shown. Its element stays while its chat is shown; what did not change is not made again.

import { copyFrom, el, iconButton, keepFocus } from "./dom.js";
import { markdown } from "./markdown.js";
import { content } from "./tree.js";

export class MessageView {
  /** @param chat the view of the chat, which does what the buttons ask for */
  constructor(message, chat) {
    this.message = message;
    this.chat = chat;
    this.fromUser = message.role === "user";
    this.actions = el("div", { class: "actions" });
    this.body = el("div", { class: "body" }, this.fromUser ? this.question() : this.answer());
    this.element = el("article", { class: `message ${message.role}`, "aria-label": this.fromUser ? "You" : "Answer" }, this.body, this.actions);
  }

  question() {
    const { files = [], text } = this.message;
    return [
      ...files.filter((file) => file.picture).map((file) => el("img", { class: "picture", src: file.picture, alt: file.name })),
      ...files.filter((file) => !file.picture).map((file) => el("details", { class: "file" }, el("summary", {}, file.name), el("pre", { tabIndex: 0 }, file.text))),
      el("div", { class: "plain" }, text),
    ];
  }

  answer() {
    this.thoughts = el("div", { class: "markdown" });
    this.summary = el("summary", {});
    this.reasoning = el("details", { class: "reasoning", hidden: true, ontoggle: () => this.show() }, this.summary, this.thoughts);
    this.text = el("div", { class: "markdown" });
    this.after = el("div", { class: "after" });
    return [this.reasoning, this.text, this.after];
  }

  /** Shows all of the message as it is now, at once. */
  show() {
    for (const _ of this.steps()) {
      // each step shows a part
    }
  }

  /** Shows the message as it is now, in short steps. */
  *steps() {
    const { message } = this;
    if (!this.fromUser) {
      this.reasoning.hidden = !message.reasoning;
      this.summary.textContent = message.running && !message.text ? "Reasoning …" : "Reasoning";
      this.element.classList.toggle("waiting", Boolean(message.running && !message.text && !message.reasoning));
      if (message.reasoning && this.reasoning.open) {
        yield* markdown(this.thoughts, message.reasoning);
      }
      yield* markdown(this.text, message.text);
      this.showFooter();
    }
    this.showActions();
  }

  showFooter() {
    const { error, cut, running, stats, stopped, text } = this.message;
    const state = JSON.stringify([error, cut, running, stats, stopped, Boolean(text)]);
    if (state === this.footer) {
      return;
    }
    this.footer = state;
    const goOn = text && !running && (error || cut || stopped) && el("button", { type: "button", class: "small", key: "on", onclick: () => this.chat.goOn(this.message) }, "Continue");
    const again = error && el("button", { type: "button", class: "small", key: "again", onclick: () => this.chat.again(this.message) }, "Answer again");
    keepFocus(this.element, () =>
      this.after.replaceChildren(
        ...[
          error && el("p", { class: "error", role: "alert" }, error),
          cut && !running && el("p", { class: "hint" }, "The answer was cut at the longest length."),
          stats && el("p", { class: "figures" }, figures(stats, stopped)),
          !stats && stopped && el("p", { class: "figures" }, "stopped"),
          (goOn || again) && el("div", { class: "offers" }, [again, goOn]),
        ].filter(Boolean),
      ),
    );
  }

  showActions() {
    const { message, chat } = this;
    const [index, all] = chat.siblings(message);
    const state = JSON.stringify([index, all.length, message.running, Boolean(message.error)]);
    if (state === this.shownActions) {
      return;
    }
    this.shownActions = state;
    const copy = iconButton("copy", "Copy", () => copyFrom(copy, this.fromUser ? content(message) : message.text), { key: "copy" });
    const go = (step) => chat.choose(all[index + step], step < 0 ? "before" : "next");
    const branches = el(
      "span",
      { class: "branches" },
      iconButton("left", "Branch before", () => go(-1), { disabled: index === 0, key: "before" }),
      el("span", { role: "img", "aria-label": `Branch ${index + 1} of ${all.length}` }, `${index + 1}/${all.length}`),
      iconButton("right", "Next branch", () => go(1), { disabled: index === all.length - 1, key: "next" }),
    );
    const main = message.running
      ? iconButton("stop", "Stop this answer", () => chat.answers.stop(message), { key: "stop" })
      : this.fromUser
        ? iconButton("edit", "Edit", () => this.edit(), { key: "edit" })
        : !message.error && iconButton("again", "Answer again", () => chat.again(message), { key: "again" });
    keepFocus(this.element, () => this.actions.replaceChildren(...[all.length > 1 && branches, !message.running && copy, main].filter(Boolean)));
  }

  /** Moves the focus to one of the message's buttons, else to the first one that can be used; returns whether it is there. */
  focus(key) {
    const button = this.element.querySelector(`[data-key="${key}"]:not(:disabled)`) || this.actions.querySelector("button:not(:disabled)");
    button?.focus();
    return button !== null && button === document.activeElement;
  }

  /** Lets the user write another version of the message; the old one stays as a branch. */
  edit() {
    const { message } = this;
    const field = el("textarea", { rows: Math.min(12, message.text.split("\n").length + 1), value: message.text, "aria-label": "Edited message" });
    const close = () => {
      this.element.replaceChildren(this.body, this.actions);
      this.focus("edit");
    };
    const submit = () => {
      const text = field.value.trim();
      if (text) {
        close();
        this.chat.sendInstead(message, text);
      }
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        submit();
      } else if (event.key === "Escape") {
        event.stopPropagation();
        close();
      }
    });
    this.element.replaceChildren(
      el(
        "div",
        { class: "editor" },
        field,
        el("div", { class: "buttons" }, el("button", { type: "button", onclick: close }, "Cancel"), el("button", { type: "button", class: "primary", onclick: submit }, "Send")),
      ),
    );
    field.focus();
  }
}

function figures({ ttft, rate, tokens, prompt, cached }, stopped) {
  const parts = [
    `first token ${ttft < 1000 ? `${Math.round(ttft)} ms` : `${(ttft / 1000).toFixed(1)} s`}`,
    rate ? `${rate.toFixed(1)} tok/s` : null,
    `${tokens.toLocaleString()} ${tokens === 1 ? "token" : "tokens"}`,
    prompt ? `prompt ${prompt.toLocaleString()}${cached ? ` (${cached.toLocaleString()} cached)` : ""}` : null,
    stopped ? "stopped" : null,
  ];
  return parts.filter(Boolean).join(" · ");
}
