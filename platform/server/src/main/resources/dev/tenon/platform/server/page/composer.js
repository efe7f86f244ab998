// The field for the next message, with its files. What is written but not sent stays with its chat.

import { el, icon, iconButton, notify } from "./dom.js";

const MOST_FILE_CHARACTERS = 400_000;
const DRAFT = "tenon.draft.";

export class Composer {
  /**
   * @param onSend called with a text and files; returns whether they were sent
   * @param onStop called when the answer is to be stopped
   */
  constructor(onSend, onStop) {
    this.onSend = onSend;
    this.files = new Map();
    this.field = el("textarea", {
      id: "message",
      rows: 1,
      placeholder: "Message",
      "aria-label": "Message",
      oninput: () => this.changed(),
      onkeydown: (event) => this.keyDown(event),
      onpaste: (event) => this.take(event, event.clipboardData),
    });
    this.chips = el("div", { class: "chips" });
    this.picker = el("input", { type: "file", multiple: true, class: "hidden", tabIndex: -1, "aria-label": "Text files", onchange: () => this.attach([...this.picker.files]).then(() => (this.picker.value = "")) });
    this.button = iconButton("send", "Send", () => (this.running ? onStop() : this.submit()), { class: "icon send" });
    this.element = el(
      "div",
      { class: "composer" },
      this.chips,
      el("div", { class: "line" }, iconButton("clip", "Attach text files", () => this.picker.click()), this.picker, this.field, this.button),
    );
  }

  /** Shows what was written for a chat, named by its id, or by nothing for one that is new. */
  open(id) {
    this.id = id;
    this.field.value = sessionStorage.getItem(DRAFT + id) || "";
    this.showFiles();
    this.grow();
  }

  changed() {
    try {
      if (this.field.value) {
        sessionStorage.setItem(DRAFT + this.id, this.field.value);
      } else {
        sessionStorage.removeItem(DRAFT + this.id);
      }
    } catch {
      // storage is full: the draft lasts until another chat is shown
    }
    this.grow();
  }

  /** The files for the next message of a chat. */
  filesOf(id) {
    return this.files.get(id) || [];
  }

  setFiles(id, files) {
    this.files.set(id, files);
    this.showFiles();
  }

  focus() {
    this.field.focus({ preventScroll: true });
  }

  /** Shows whether the answer is being made: then the button stops it. */
  busy(running) {
    if (running !== this.running) {
      this.running = running;
      this.button.replaceChildren(icon(running ? "stop" : "send"));
      this.button.title = running ? "Stop (Esc)" : "Send";
      this.button.setAttribute("aria-label", running ? "Stop" : "Send");
      this.button.classList.toggle("running", running);
    }
  }

  keyDown(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.submit();
    }
  }

  grow() {
    this.field.style.height = "auto";
    if (this.field.value) {
      this.field.style.height = `${Math.min(this.field.scrollHeight, 240)}px`;
    }
  }

  take(event, data) {
    const files = [...(data?.files || [])];
    if (files.length) {
      event.preventDefault();
      this.attach(files);
    }
  }

  async attach(files) {
    const id = this.id; // another chat may be shown before the files are read
    for (const file of files) {
      try {
        if (file.size > 4 * MOST_FILE_CHARACTERS) {
          throw new Error("it is too large");
        }
        const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
        if (text.includes("\0") || text.length > MOST_FILE_CHARACTERS) {
          throw new Error(text.includes("\0") ? "it is no text" : "it is too large");
        }
        this.setFiles(id, [...this.filesOf(id), { name: file.name, text }]);
      } catch (error) {
        notify(`${file.name} was not attached: ${error instanceof TypeError ? "it is no text in UTF-8" : error.message}.`, true);
      }
    }
    this.field.focus();
  }

  showFiles() {
    const { id } = this;
    this.chips.replaceChildren(
      ...this.filesOf(id).map((file) =>
        el(
          "span",
          { class: "chip" },
          file.name,
          iconButton("close", `Remove ${file.name}`, () => {
            this.setFiles(id, this.filesOf(id).filter((each) => each !== file));
            this.field.focus();
          }),
        ),
      ),
    );
  }

  submit() {
    const text = this.field.value.trim();
    const { id } = this;
    const files = this.filesOf(id);
    if ((text || files.length) && !this.running && this.onSend(text, files)) {
      this.files.delete(id);
      sessionStorage.removeItem(DRAFT + id);
      this.open(this.id); // a new chat has its id since it was sent
    }
  }
}
