// Chats of this browser, in IndexedDB. The oldest leave when there are too many.

const MOST_CHATS = 300;
const STORE = "chats";

let opened = null;

function database() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("tenon", 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opened;
}

async function run(mode, action) {
  const transaction = (await database()).transaction(STORE, mode);
  return new Promise((resolve, reject) => {
    const request = action(transaction.objectStore(STORE));
    transaction.oncomplete = () => resolve(request.result);
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
}

/** All chats, the last used one first. */
export async function allChats() {
  const chats = (await run("readonly", (store) => store.getAll())).sort((a, b) => b.updated - a.updated);
  for (const old of chats.slice(MOST_CHATS)) {
    await removeChat(old.id);
  }
  return chats.slice(0, MOST_CHATS);
}

export const saveChat = (chat) => run("readwrite", (store) => store.put(structuredClone(chat)));

export const removeChat = (id) => run("readwrite", (store) => store.delete(id));
