// The list of chats in the side bar: search, names, deletion, export and import.

import { closeButton, confirmed, el, iconButton, keepFocus, notify, openDialog } from "./dom.js";
import { checked, newId } from "./tree.js";

export class ChatList {
  /**
   * @param chats the chats of this browser
   * @param answers the answers that are being made
   * @param current returns the chat that is shown, or null
   */
  constructor(chats, answers, current) {
    this.chats = chats;
    this.answers = answers;
    this.current = current;
    this.element = document.getElementById("chats");
    this.search = document.getElementById("search");
    this.search.oninput = () => this.find();
    this.importer = el("input", { type: "file", accept: ".json,application/json", class: "hidden", tabIndex: -1, "aria-label": "File of chats", onchange: () => this.import() });
    this.element.after(this.importer);
    this.found = null;
    chats.listen(() => this.show());
  }

  /** Finds the chats with a text: by their titles at once, then by their messages. */
  async find() {
    const text = this.search.value.toLowerCase();
    const found = text ? new Set(this.chats.list.filter((chat) => chat.title.toLowerCase().includes(text))) : null;
    this.found = found;
    this.searching = Boolean(text);
    this.show();
    for (const chat of text ? [...this.chats.list] : []) {
      const has = found.has(chat) || (await this.chats.messages(chat)).some((message) => message.text.toLowerCase().includes(text));
      if (this.found !== found) {
        return; // another search began
      }
      if (has) {
        found.add(chat);
      }
    }
    this.searching = false;
    this.show();
  }

  show() {
    const shown = this.chats.list.filter((chat) => !this.found || this.found.has(chat));
    const current = this.current();
    const rows = shown.map((chat) => ({ id: chat.id, title: chat.title || "Chat", current: chat === current, running: this.answers.of(chat).length > 0 }));
    const none = this.found && !rows.length && (this.searching ? "Searching …" : `No chat has “${this.search.value}”.`);
    const state = JSON.stringify([rows, none, this.chats.list.length > 0]);
    if (state === this.state) {
      return;
    }
    this.state = state;
    const tool = (label, onclick) => el("button", { type: "button", class: "link", key: label, onclick }, label);
    const tools = this.chats.list.length ? [tool("Export", () => this.export()), tool("Import", () => this.importer.click())] : [tool("Import chats", () => this.importer.click())];
    keepFocus(
      this.element,
      () => this.element.replaceChildren(...[...rows.map((row) => this.row(row)), none && el("p", { class: "hint none", role: "status" }, none), el("div", { class: "entry-tools" }, tools)].filter(Boolean)),
      () => this.search,
    );
  }

  row({ id, title, current, running }) {
    return el(
      "div",
      { class: `entry ${current ? "current" : ""} ${running ? "running" : ""}` },
      el("a", { class: "nav", title, href: `#/chat/${id}`, key: `open ${id}`, "aria-current": current ? "page" : null }, running ? el("span", { class: "hidden" }, "Being answered: ") : null, title),
      iconButton("edit", `Rename ${title}`, () => this.rename(this.chats.find(id)), { key: `rename ${id}` }),
      iconButton("trash", `Delete ${title}`, () => this.delete(this.chats.find(id)), { key: `delete ${id}` }),
    );
  }

  async rename(chat) {
    const name = el("input", { name: "title", value: chat.title, required: true, maxLength: 200, autofocus: true, autocomplete: "off" });
    const answer = await openDialog("Rename chat", el("label", { class: "field" }, "Name", name), [closeButton("Cancel", ""), el("button", { class: "primary", value: "yes" }, "Rename")]);
    if (answer === "yes" && name.value.trim()) {
      await this.chats.save(chat, [], { title: name.value.trim() });
    }
  }

  async delete(chat) {
    if (await confirmed("Delete chat", `“${chat.title}” is deleted from this browser.`, "Delete")) {
      const links = [...this.element.querySelectorAll(".entry a")];
      const at = links.findIndex((link) => link.dataset.key === `open ${chat.id}`);
      await this.chats.remove(chat);
      const left = [...this.element.querySelectorAll(".entry a")];
      (left[Math.min(at, left.length - 1)] || this.search).focus();
    }
  }

  async export() {
    try {
      const chats = [];
      for (const chat of this.chats.list) {
        const { id, title, updated, chosen } = chat;
        chats.push({ id, title, updated, chosen, messages: await this.chats.messages(chat) });
      }
      const file = new Blob([JSON.stringify({ tenon_chats: 1, chats }, null, 1)], { type: "application/json" });
      const link = el("a", { href: URL.createObjectURL(file), download: `tenon-chats-${new Date().toISOString().slice(0, 10)}.json` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    } catch (error) {
      notify(`The chats were not exported: ${error.message}.`, true);
    }
  }

  async import() {
    const file = this.importer.files[0];
    this.importer.value = "";
    try {
      const data = JSON.parse(await file.text());
      if (data.tenon_chats !== 1 || !Array.isArray(data.chats)) {
        throw new Error("it was not exported from here");
      }
      const read = data.chats.map(checked);
      for (const chat of read) {
        if (this.chats.find(chat.id)) {
          chat.id = newId(); // what is there stays
        }
        await this.chats.save(chat, chat.messages);
      }
      notify(`${read.length} ${read.length === 1 ? "chat was" : "chats were"} imported.`);
    } catch (error) {
      notify(`${file.name} was not imported: ${error.message}.`, true);
    }
  }
}
