// The field for the next message, with its files. What is written but not sent stays with its chat.

import { el, icon, iconButton, notify } from "./dom.js";

const MOST_FILE_CHARACTERS = 400_000;
const MOST_PICTURE_BYTES = 32 * 1024 * 1024; // as the server
const PICTURES = /^image\/(png|jpeg|gif|bmp|webp)$/;
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
    this.picker = this.input({ "aria-label": "Text files" });
    this.camera = this.input({ "aria-label": "Pictures", accept: "image/*", capture: "environment" });
    this.pictures = iconButton("picture", "Attach pictures", () => this.camera.click(), { hidden: true });
    this.button = iconButton("send", "Send", () => (this.running ? onStop() : this.submit()), { class: "icon send" });
    this.element = el(
      "div",
      { class: "composer" },
      this.chips,
      el("div", { class: "line" }, iconButton("clip", "Attach text files", () => this.picker.click()), this.picker, this.pictures, this.camera, this.field, this.button),
    );
  }

  input(props) {
    const input = el("input", { type: "file", multiple: true, class: "hidden", tabIndex: -1, onchange: () => this.attach([...input.files]).then(() => (input.value = "")), ...props });
    return input;
  }

  /** Shows whether the model takes pictures. */
  takesPictures(does) {
    this.pictures.hidden = !does;
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
        const read = PICTURES.test(file.type) ? { picture: await this.pictureOf(file) } : { text: await textOf(file) };
        this.setFiles(id, [...this.filesOf(id), { name: file.name, ...read }]);
      } catch (error) {
        notify(`${file.name} was not attached: ${error instanceof TypeError ? "it is no text in UTF-8" : error.message}.`, true);
      }
    }
    this.field.focus();
  }

  /** A picture as a data URL. */
  pictureOf(file) {
    if (this.pictures.hidden) {
      throw new Error("the model takes no pictures");
    }
    if (file.size > MOST_PICTURE_BYTES) {
      throw new Error("it is too large");
    }
    return new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result);
      reader.onerror = () => reject(reader.error);
      reader.readAsDataURL(file);
    });
  }

  showFiles() {
    const { id } = this;
    this.chips.replaceChildren(
      ...this.filesOf(id).map((file) =>
        el(
          "span",
          { class: "chip" },
          file.picture && el("img", { src: file.picture, alt: "" }),
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

async function textOf(file) {
  if (file.size > 4 * MOST_FILE_CHARACTERS) {
    throw new Error("it is too large");
  }
  const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  if (text.includes("\0") || text.length > MOST_FILE_CHARACTERS) {
    throw new Error(text.includes("\0") ? "it is no text" : "it is too large");
  }
  return text;
}
