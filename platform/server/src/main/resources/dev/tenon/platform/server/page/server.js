// What the page knows of the server, shared by its views.

import { getJson } from "./api.js";

let known = null;

/** The newest status, or null before the first one. */
export const status = () => known;

export async function loadStatus() {
  known = await getJson("/tenon/status");
  return known;
}

/** The model of a name; its context length and the like are there while it is loaded. */
export const model = (name) => known?.models.find((each) => each.name === name) || null;

/** The value of all series of `/metrics` with a name, summed over their labels, by name without prefix. */
export function sums(text, prefix) {
  const sums = {};
  for (const line of text.split("\n")) {
    const match = /^([^#\s{]+)(?:\{[^}]*\})?\s+(\S+)/.exec(line);
    if (match && match[1].startsWith(prefix)) {
      const name = match[1].slice(prefix.length);
      sums[name] = (sums[name] || 0) + Number(match[2]);
    }
  }
  return sums;
}
