// A chat is a tree: editing a message or making an answer again begins a branch beside the old one.

const ROOT = "root";

/** What is told at an answer that nobody makes any more. */
export const UNFINISHED = "The answer broke off: the page was closed or loaded again.";

export const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(9)), (byte) => byte.toString(36).padStart(2, "0")).join("");

export function newChat() {
  return { id: newId(), title: "", updated: Date.now(), messages: [], chosen: {} };
}

/** The messages of the branch that is shown, the first one first. */
export function branch(chat) {
  const next = Map.groupBy(chat.messages, (message) => message.parent);
  const path = [];
  let parent = ROOT;
  while (next.has(parent)) {
    const all = next.get(parent);
    const message = all.find((each) => each.id === chat.chosen[parent]) || all.at(-1);
    path.push(message);
    parent = message.id;
  }
  return path;
}

/** Adds a message after another one, or at the beginning, and shows it. */
export function add(chat, parent, message) {
  const at = Math.max(Date.now(), (chat.messages.at(-1)?.at ?? 0) + 1);
  const added = { id: newId(), parent: parent ? parent.id : ROOT, at, ...message };
  chat.messages.push(added);
  chat.chosen[added.parent] = added.id;
  chat.updated = Date.now();
  return added;
}

/** A message and those beside it, as `[index, all]`. */
export function siblings(chat, message) {
  const all = chat.messages.filter((each) => each.parent === message.parent);
  return [all.indexOf(message), all];
}

/** The choice of branches that shows some messages, for `chosen`. */
export const choice = (...messages) => Object.fromEntries(messages.map((message) => [message.parent, message.id]));

export function parentOf(chat, message) {
  return chat.messages.find((each) => each.id === message.parent) || null;
}

/** What a message says: its text, and its files of text as blocks of code with their names. */
export function content(message) {
  const files = (message.files || []).filter((file) => !file.picture).map((file) => {
    const fence = "`".repeat(Math.max(3, ...[...file.text.matchAll(/`+/g)].map((run) => run[0].length + 1)));
    return `${file.name}:\n${fence}\n${file.text}\n${fence}`;
  });
  return [...files, message.text].filter(Boolean).join("\n\n");
}

/** What a message says to the model, in the form of requests: its pictures, then its content. */
export function parts(message) {
  const pictures = (message.files || []).filter((file) => file.picture);
  const text = content(message);
  const images = pictures.map((file) => ({ type: "image_url", image_url: { url: file.picture } }));
  return images.length ? [...images, ...(text ? [{ type: "text", text }] : [])] : text;
}

/** A file of a message with what is known alone; null if it is none. */
function known({ name, text, picture }) {
  if (typeof picture === "string" && picture.startsWith("data:image/")) {
    return { name, picture };
  }
  return typeof text === "string" ? { name, text } : null;
}

/** Checks a chat of a file; returns it with what is known alone, or throws. */
export function checked(value) {
  const text = (each) => typeof each === "string";
  if (!value || !text(value.id) || !Array.isArray(value.messages)) {
    throw new Error("an entry is no chat");
  }
  const ids = new Set([ROOT]);
  const messages = value.messages.map((message, at) => {
    const { id, parent, role, reasoning, model, stats, error, running } = message;
    if (!text(id) || ids.has(id) || !ids.has(parent) || !["user", "assistant"].includes(role) || !text(message.text)) {
      throw new Error("a message is broken");
    }
    ids.add(id);
    const files = (Array.isArray(message.files) ? message.files : []).filter((file) => text(file?.name)).map(known).filter(Boolean);
    const kept = { id, parent, at, role, text: message.text, files };
    if (text(reasoning)) {
      kept.reasoning = reasoning;
    }
    if (text(error) || running) {
      kept.error = text(error) ? error : UNFINISHED;
    }
    if (text(model)) {
      kept.model = model;
    }
    if (stats && Object.values(stats).every((number) => typeof number === "number")) {
      kept.stats = { ...stats };
    }
    return kept;
  });
  const chosen = Object.fromEntries(Object.entries(value.chosen || {}).filter(([parent, id]) => ids.has(parent) && ids.has(id)));
  return { id: value.id, title: String(value.title || ""), updated: Number(value.updated) || Date.now(), messages, chosen };
}
