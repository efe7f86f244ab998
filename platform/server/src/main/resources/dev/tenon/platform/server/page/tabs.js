// What the tabs of this page tell each other.

const channel = new BroadcastChannel("tenon");

/** Tells something to the other tabs. */
export const tell = (kind, what) => channel.postMessage({ kind, what });

/** Calls a function with what another tab tells of a kind. */
export const hear = (kind, heard) => channel.addEventListener("message", ({ data }) => data.kind === kind && heard(data.what));
