// Markdown of models as elements. What a model writes is hostile: whatever the Markdown library makes of it passes the
// sanitiser, which lets a short list of elements through.

import { Marked } from "./lib/marked.js";
import "./lib/purify.js";
import { copyFrom, iconButton } from "./dom.js";
import { showCode } from "./highlight.js";

const HARMLESS = /^<\/?(br|sub|sup|kbd|b|i|u|em|strong|mark)\s*\/?>$/i;

const CLEAN = {
  ALLOWED_TAGS: [
    "a", "b", "blockquote", "br", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "input", "kbd", "li", "mark", "ol",
    "p", "pre", "span", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "u", "ul",
  ],
  ALLOWED_ATTR: ["align", "checked", "class", "disabled", "href", "start", "title", "type"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  ADD_URI_SAFE_ATTR: ["align", "checked", "disabled", "start", "type"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

const clean = (html) => DOMPurify.sanitize(html, CLEAN);

const escaped = (text) =>
  text.replace(/[&<>"']/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[c]);

const marked = new Marked({
  gfm: true,
  renderer: {
    code({ text, lang }) {
      const language = (lang || "").split(/\s/)[0].toLowerCase();
      return `<div class="code"><div class="code-bar"><span>${escaped(language)}</span></div><pre><code>${escaped(text)}</code></pre></div>`;
    },
    // A picture from elsewhere would tell its server of the chat: it becomes a link.
    image({ href, text }) {
      return `<a href="${escaped(href)}">${escaped(text || href)}</a>`;
    },
    html({ text }) {
      return HARMLESS.test(text.trim()) ? text : escaped(text);
    },
  },
});

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
  if (node.tagName === "INPUT" && node.getAttribute("type") !== "checkbox") {
    node.remove(); // lists of tasks have check boxes; nothing else is to be filled in
  }
});

function elements(token, links) {
  const html = marked.parser(Object.assign([token], { links }));
  const fragment = clean(html);
  for (const box of fragment.querySelectorAll("input")) {
    box.disabled = true;
  }
  for (const bar of fragment.querySelectorAll(".code-bar")) {
    const code = bar.parentElement.querySelector("code");
    const button = iconButton("copy", "Copy code", () => copyFrom(button, code.textContent));
    bar.append(button);
    code.parentElement.tabIndex = 0; // it scrolls, also by keys
  }
  for (const table of fragment.querySelectorAll("table")) {
    const frame = document.createElement("div");
    frame.className = "table";
    frame.tabIndex = 0;
    table.replaceWith(frame);
    frame.append(table);
  }
  return fragment;
}

/**
 * Shows a text in an element, a block at each step. Of a text that was shown already nothing is made again; of one that has
 * grown, only the blocks that changed.
 */
export function* markdown(element, text) {
  if (element.shownText === text) {
    return;
  }
  const tokens = marked.lexer(text);
  const blocks = tokens.filter((token) => token.type !== "space" && token.type !== "def");
  const shown = (element.shownBlocks ??= []);
  let same = 0;
  while (same < blocks.length && shown[same] === blocks[same].raw) {
    same++;
  }
  while (element.children.length > same) {
    element.lastChild.remove();
  }
  shown.length = same;
  for (const block of blocks.slice(same)) {
    const frame = document.createElement("div");
    frame.className = "block";
    frame.append(elements(block, tokens.links));
    element.append(frame);
    for (const code of frame.querySelectorAll(".code")) {
      const language = code.querySelector(".code-bar span").textContent;
      const text = code.querySelector("code");
      showCode(text, text.textContent, language, clean, () => frame.parentElement !== null);
    }
    shown.push(block.raw);
    yield;
  }
  element.shownText = text;
}
