// Starts the page: side bar, views, keys, theme.

import { ActivityView } from "./activity.js";
import { Answers } from "./answers.js";
import { BundlesView, DevicesView } from "./bundles.js";
import { ChatView } from "./chat.js";
import { Chats } from "./chats.js";
import { el, icon, iconButton, notify } from "./dom.js";
import { ModelsView } from "./models.js";
import { loadStatus } from "./server.js";
import { ChatList } from "./side.js";
import * as tree from "./tree.js";

const THEMES = ["auto", "light", "dark"];
const NARROW = matchMedia("(max-width: 760px)");

const main = document.getElementById("main");

let view = null;

const chats = new Chats();
const answers = new Answers(chats, (chat) => chatView.progress(chat));
const chatView = new ChatView(chats, answers, (chat) => {
  history.replaceState(null, "", `#/chat/${chat.id}`);
  showAddress();
  chatList.show();
});
const chatList = new ChatList(chats, answers, () => (view === views.chat.made ? chatView.chat : null));
const views = {
  chat: { label: "Chat", icon: "chat", make: () => ({ element: chatView.element, open: () => chatView.open(wantedChat()), close: () => {} }) },
  models: { label: "Models", icon: "model", make: () => new ModelsView(() => chatView.showModels()) },
  bundles: { label: "Bundles", icon: "bundle", make: () => new BundlesView() },
  devices: { label: "Devices", icon: "device", make: () => new DevicesView() },
  activity: { label: "Activity", icon: "activity", make: () => new ActivityView() },
};

// Views

/** The view that the address names, and in it a chat: `#/chat/ID`. */
const wanted = () => location.hash.replace(/^#\/?/, "").split("/");

function wantedChat() {
  const id = wanted()[1];
  const known = id && chats.find(id);
  if (id && !known) {
    notify("This chat is not in this browser: it was deleted, or made elsewhere.", true);
    history.replaceState(null, "", "#/chat");
  }
  return known || tree.newChat();
}

function route() {
  const name = views[wanted()[0]] ? wanted()[0] : "chat";
  view?.close();
  const entry = views[name];
  entry.made ??= entry.make();
  view = entry.made;
  const opener = iconButton("side", "Show side bar (Ctrl+B)", toggleSide, { class: "icon open-side" });
  main.replaceChildren(opener, view.element);
  for (const link of document.querySelectorAll("#views a")) {
    if (link.dataset.view === name) {
      link.setAttribute("aria-current", "page");
    } else {
      link.removeAttribute("aria-current");
    }
  }
  view.open();
  showAddress();
  chatList.show();
  if (NARROW.matches) {
    document.body.classList.remove("side-open");
  }
}

/** Shows where one is in the title, and has the link to the chat lead to the last one. */
function showAddress() {
  const { chat } = chatView;
  const shown = Object.values(views).find((each) => each.made === view);
  const name = shown === views.chat ? chat?.title : shown?.label;
  document.title = name ? `${name} – Tenon` : "Tenon";
  document.querySelector('#views [data-view="chat"]').href = chat?.kept ? `#/chat/${chat.id}` : "#/chat";
}

function showViews() {
  const theme = el("button", { type: "button", class: "nav", id: "theme", onclick: nextTheme });
  document.getElementById("views").replaceChildren(
    ...Object.entries(views).map(([name, entry]) => el("a", { href: `#/${name}`, class: "nav", "data-view": name }, icon(entry.icon), entry.label)),
    theme,
  );
  showTheme();
}

// Theme

function showTheme() {
  const now = document.documentElement.dataset.theme;
  document.getElementById("theme").replaceChildren(icon("theme"), `Theme: ${now}`);
}

function nextTheme() {
  const now = document.documentElement.dataset.theme;
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("tenon.theme", next);
  } catch {
    // storage is off: it holds for this tab
  }
  showTheme();
  dispatchEvent(new Event("themechange"));
}

// Side bar and chats

function toggleSide() {
  document.body.classList.toggle(NARROW.matches ? "side-open" : "side-closed");
}

/** Shows a chat that begins; what was written for one and not sent is still there. */
function newChat() {
  if (location.hash !== "#/chat") {
    history.pushState(null, "", "#/chat"); // a change of the hash is told later, after what is typed next
  }
  route();
}

/** Follows changes of the chat that is shown: its name is the page's, and one that was deleted leaves. */
function follow({ chat, removed, elsewhere }) {
  if (chat !== chatView.chat) {
    return;
  }
  if (removed) {
    if (elsewhere) {
      notify("The chat was deleted in another tab.");
    }
    chatView.chat = null;
    if (view === views.chat.made) {
      history.replaceState(null, "", "#/chat");
      route();
    }
  }
  showAddress();
}

// Keys

addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) {
    return;
  }
  const control = event.ctrlKey || event.metaKey;
  if (control && event.shiftKey && event.code === "KeyO") {
    event.preventDefault();
    newChat();
  } else if (control && !event.shiftKey && event.code === "KeyB") {
    event.preventDefault();
    toggleSide();
  } else if (event.key === "Escape" && view === views.chat.made && event.target !== chatList.search) {
    chatView.stop();
  } else if (event.key === "/" && !control && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && view === views.chat.made) {
    event.preventDefault();
    chatView.composer.focus();
  }
});

// Start

document.getElementById("hide-side").append(icon("side"));
document.getElementById("hide-side").onclick = toggleSide;
document.getElementById("shade").onclick = toggleSide;
document.getElementById("new-chat").prepend(icon("plus"));
document.getElementById("new-chat").onclick = newChat;
showViews();
await chats.start();
chats.listen(follow);
addEventListener("hashchange", route);
route();
try {
  await loadStatus();
  chatView.showModels();
} catch (error) {
  notify(error.message, true);
}
