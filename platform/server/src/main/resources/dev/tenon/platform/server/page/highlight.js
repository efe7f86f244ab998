// Shows code in colours, which a worker finds.

const WORKER = new URL("./code-worker.js", import.meta.url).href;
// What may become a script has to be named: this policy knows one address.
const policy = globalThis.trustedTypes?.createPolicy("code-worker", { createScriptURL: () => WORKER });
const worker = new Worker(policy?.createScriptURL("") ?? WORKER, { type: "module" });

/** What hears an answer of the worker, by its number. */
const asked = new Map();
/** Of each language the code that was coloured last, and its markup. */
const last = new Map();
let number = 0;

worker.onmessage = ({ data }) => {
  const hear = asked.get(data.number);
  asked.delete(data.number);
  hear(data.markup);
};

/**
 * Shows code in an element, in colours as soon as they are known: where it is the code that was coloured last and has grown,
 * its beginning keeps its colours until then.
 *
 * @param clean makes nodes of markup
 */
export function showCode(element, code, language, clean) {
  const { code: begin = "", markup = "" } = last.get(language) ?? {};
  if (begin && code.startsWith(begin)) {
    element.replaceChildren(clean(markup), code.slice(begin.length));
  } else {
    element.textContent = code;
  }
  if (!language || code === begin) {
    return;
  }
  asked.set(++number, (coloured) => {
    if (coloured !== null) {
      last.set(language, { code, markup: coloured });
      element.replaceChildren(clean(coloured));
    }
  });
  worker.postMessage({ number, code, language });
}
