// Chats of this browser, in IndexedDB: of each a head (title, shown branches), and its messages as records of their own, so
// that tabs that write to one chat at the same time lose nothing.

const HEADS = "heads";
const MESSAGES = "messages";

let opened = null;

function database() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("tenon", 2);
    request.onupgradeneeded = () => upgrade(request);
    request.onblocked = () => reject(new Error("another tab has an older version of this page open. Close it and load this one again"));
    request.onsuccess = () => {
      request.result.onversionchange = () => request.result.close();
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
  });
  return opened;
}

function upgrade({ result: database, transaction }) {
  const heads = database.createObjectStore(HEADS, { keyPath: "id" });
  const messages = database.createObjectStore(MESSAGES, { keyPath: ["chat", "id"] });
  if (database.objectStoreNames.contains("chats")) {
    // version 1 had a record for each chat
    transaction.objectStore("chats").getAll().onsuccess = ({ target }) => {
      for (const { messages: all, ...head } of target.result) {
        heads.put(head);
        all.forEach((message, at) => messages.put({ ...message, chat: head.id, at }));
      }
      database.deleteObjectStore("chats");
    };
  }
}

/** Does something in a transaction; resolves to the value of the function that it returns, once all is written. */
async function transact(mode, action) {
  const transaction = (await database()).transaction([HEADS, MESSAGES], mode);
  return new Promise((resolve, reject) => {
    const value = action(transaction.objectStore(HEADS), transaction.objectStore(MESSAGES));
    transaction.oncomplete = () => resolve(value());
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
}

const read = (action) =>
  transact("readonly", (...stores) => {
    const request = action(...stores);
    return () => request.result;
  });

const ofChat = (id) => IDBKeyRange.bound([id], [id, []]);

/** The heads of all chats. */
export const allHeads = () => read((heads) => heads.getAll());

/** The messages of a chat, the oldest first. */
export const messagesOf = async (id) => (await read((heads, messages) => messages.getAll(ofChat(id)))).sort((a, b) => a.at - b.at);

/**
 * Writes messages, and what changed in the head of their chat (`id`, and of `title`, `updated`, `chosen` what is new).
 * Resolves to the whole head, or to null where the chat was deleted meanwhile: then nothing is written.
 */
export const save = (change, changed, isNew) =>
  transact("readwrite", (heads, messages) => {
    let head = null;
    heads.get(change.id).onsuccess = ({ target: { result: before } }) => {
      if (before || isNew) {
        head = { ...before, ...change, chosen: { ...before?.chosen, ...change.chosen } };
        heads.put(head);
        changed.forEach((message) => messages.put({ ...message, chat: change.id }));
      }
    };
    return () => head;
  });

export const remove = (id) =>
  transact("readwrite", (heads, messages) => {
    heads.delete(id);
    messages.delete(ofChat(id));
    return () => {};
  });
