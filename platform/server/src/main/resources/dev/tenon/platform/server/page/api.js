// Requests to the server. The key is kept for the tab alone.

import { el, openDialog } from "./dom.js";

const KEY = "tenon.key";
let asking = null;

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Waits for something of the network; what browsers call "Failed to fetch" becomes words that help. */
async function told(promise, failure = `The server at ${location.host} cannot be reached. Does it run, and is this device in its network?`) {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof TypeError) {
      throw new ApiError(0, failure);
    }
    throw error;
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(0, `The server sent what is no JSON: ${text.slice(0, 80)}`);
  }
}

export const key = {
  get: () => sessionStorage.getItem(KEY) || "",
  set: (value) => (value ? sessionStorage.setItem(KEY, value) : sessionStorage.removeItem(KEY)),
};

/** Asks for the key, once for all requests that wait for it. */
export function askForKey(wrong = false) {
  asking ??= (async () => {
    const field = el("input", { type: "password", name: "key", autocomplete: "off", value: key.get(), required: true, autofocus: true });
    const answer = await openDialog(
      "API key",
      [
        el("p", {}, wrong ? "The server does not know this key." : "This server asks for a key. It is kept until the tab is closed."),
        el("label", { class: "field" }, "Key", field),
      ],
      [el("button", { class: "primary", value: "yes" }, "Use key")],
    );
    asking = null;
    if (answer === "yes") {
      key.set(field.value.trim());
      return true;
    }
    return false;
  })();
  return asking;
}

/** Sends a request and returns the answer, which has a good status; asks for a key where one is needed. */
export async function send(path, { method, json, body, type, signal } = {}) {
  for (;;) {
    const used = key.get();
    const headers = used ? { Authorization: `Bearer ${used}` } : {};
    if (json !== undefined || type) {
      headers["Content-Type"] = type || "application/json";
    }
    const sent = json === undefined ? body : JSON.stringify(json);
    const answer = await told(
      fetch(path, {
        method: method || (sent === undefined ? "GET" : "POST"),
        headers,
        body: sent,
        signal,
        cache: "no-store",
        redirect: "error",
      }),
    );
    if (answer.ok) {
      return answer;
    }
    if (answer.status === 401 && (key.get() !== used || (await askForKey(used !== "")))) {
      continue;
    }
    throw new ApiError(answer.status, await message(answer));
  }
}

async function message(answer) {
  const text = await told(answer.text());
  try {
    const { error } = JSON.parse(text);
    return (typeof error === "string" ? error : error.message) || text;
  } catch {
    return text || `HTTP ${answer.status}`;
  }
}

export const getText = async (path, options) => told((await send(path, options)).text());

export const getJson = async (path, options) => parsed(await getText(path, options));

/** The lines of an answer, as they come. */
async function* lines(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await told(reader.read(), `The connection to the server at ${location.host} was lost.`);
      if (done) {
        break;
      }
      const parts = (rest + value).split("\n");
      rest = parts.pop();
      yield* parts;
    }
  } finally {
    reader.cancel().catch(() => {}); // ended already
  }
  if (rest) {
    yield rest;
  }
}

/** The events of a stream of server-sent events, as JSON, until `[DONE]`. */
export async function* events(answer) {
  for await (const line of lines(answer)) {
    if (!line.startsWith("data:")) {
      continue;
    }
    const data = line.slice(5).trim();
    if (data === "[DONE]") {
      return;
    }
    const event = parsed(data);
    if (event.error) {
      throw new ApiError(200, event.error.message);
    }
    yield event;
  }
}

/** The objects of an answer that has one JSON object a line. */
export async function* objects(answer) {
  for await (const line of lines(answer)) {
    if (line.trim()) {
      const object = parsed(line);
      if (object.error) {
        throw new ApiError(200, object.error.message || object.error);
      }
      yield object;
    }
  }
}
