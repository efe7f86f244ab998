// The chats of this browser as this tab knows them: what one tab changes is kept, and told to the others.

import { notify } from "./dom.js";
import * as store from "./store.js";
import { hear, tell } from "./tabs.js";

const ofHead = ({ id, title, updated, chosen }) => ({ id, title, updated, chosen });

export class Chats {
  constructor() {
    /** The last used one first; `messages` of one are null until it is loaded. */
    this.list = [];
    this.listeners = [];
    /** Whether this tab makes a message, so that no other one knows it better. */
    this.isOwn = () => false;
    hear("kept", ({ head, messages }) => this.take(head, messages));
    hear("removed", (id) => this.forget(id, true));
  }

  /** Calls a function with each change: the chat, its changed messages, and whether it was removed, and elsewhere. */
  listen(listener) {
    this.listeners.push(listener);
  }

  changed(change) {
    this.sort();
    this.listeners.forEach((listener) => listener({ messages: [], ...change }));
  }

  async start() {
    try {
      const heads = await store.allHeads();
      this.list.push(...heads.map((head) => ({ ...head, messages: null, kept: true })));
    } catch (error) {
      this.refused(error);
    }
    this.sort();
  }

  sort() {
    this.list.sort((a, b) => b.updated - a.updated);
  }

  find(id) {
    return this.list.find((chat) => chat.id === id);
  }

  /** The messages of a chat, which need not be shown. */
  messages(chat) {
    return chat.messages || store.messagesOf(chat.id);
  }

  /** Reads the messages of a chat where they are not known yet. */
  async load(chat) {
    chat.loading ??= this.messages(chat);
    chat.messages ??= await chat.loading;
  }

  /** Keeps messages of a chat, and what changed in its head. */
  async save(chat, messages, change = {}) {
    const isNew = !chat.kept;
    chat.kept = true;
    Object.assign(chat, change, { chosen: { ...chat.chosen, ...change.chosen } });
    if (isNew) {
      this.list.push(chat);
    }
    this.changed({ chat, messages });
    try {
      const head = await store.save(isNew ? ofHead(chat) : { ...change, id: chat.id }, messages, isNew);
      if (head) {
        tell("kept", { head, messages });
      } else {
        this.forget(chat.id, true);
      }
    } catch (error) {
      this.refused(error);
    }
  }

  refused(error) {
    if (!this.told) {
      this.told = true; // once: each further message would tell the same
      notify(`Chats are not kept in this browser: ${error.message}.`, true);
    }
  }

  async remove(chat) {
    this.forget(chat.id, false);
    try {
      await store.remove(chat.id);
      tell("removed", chat.id);
    } catch (error) {
      notify(`The chat was not deleted: ${error.message}.`, true);
    }
  }

  forget(id, elsewhere) {
    const chat = this.find(id);
    if (chat) {
      this.list.splice(this.list.indexOf(chat), 1);
      this.changed({ chat, removed: true, elsewhere });
    }
  }

  /** Takes over what another tab has kept. */
  async take(head, messages) {
    let chat = this.find(head.id);
    if (!chat) {
      chat = { messages: null, kept: true };
      this.list.push(chat);
    }
    Object.assign(chat, head);
    await chat.loading;
    const fresh = chat.messages ? messages.filter((message) => !this.isOwn(message)) : [];
    const shown = fresh.map((message) => {
      const known = chat.messages.find((each) => each.id === message.id);
      if (!known) {
        chat.messages.push(message);
        return message;
      }
      Object.keys(known).forEach((name) => delete known[name]);
      return Object.assign(known, message);
    });
    this.changed({ chat, messages: shown });
  }
}
