// Shows code in colours, which a worker finds.

const WORKER = new URL("./code-worker.js", import.meta.url).href;
// What may become a script has to be named: this policy knows one address.
const policy = globalThis.trustedTypes?.createPolicy("code-worker", { createScriptURL: () => WORKER });
const worker = new Worker(policy?.createScriptURL("") ?? WORKER, { type: "module" });

/** What is to be coloured, the oldest first; the worker has one of them at a time. */
const waiting = [];
let current = null;
/** Of each language the code that was coloured last, and its markup. */
const last = new Map();

function next() {
  do {
    current = waiting.shift();
  } while (current && !current.isWanted());
  if (current) {
    worker.postMessage({ code: current.code, language: current.language });
  }
}

worker.onmessage = ({ data: markup }) => {
  if (markup !== null) {
    last.set(current.language, { code: current.code, markup });
    current.show(markup);
  }
  next();
};
worker.onerror = next; // the browser tells of it; that code stays plain

/**
 * Shows code in an element, in colours as soon as they are known: where it is the code that was coloured last and has grown,
 * its beginning keeps its colours until then.
 *
 * @param clean makes nodes of markup
 * @param isWanted tells whether the element is still of use
 */
export function showCode(element, code, language, clean, isWanted) {
  const { code: begin = "", markup = "" } = last.get(language) ?? {};
  if (begin && code.startsWith(begin)) {
    element.replaceChildren(clean(markup), code.slice(begin.length));
  }
  if (!language || code === begin) {
    return;
  }
  waiting.push({ code, language, isWanted, show: (coloured) => element.replaceChildren(clean(coloured)) });
  if (!current) {
    next();
  }
}
