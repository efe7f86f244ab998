// Starts the page: side bar, views, keys, theme.

import { ActivityView } from "./activity.js";
import { BundlesView, DevicesView } from "./bundles.js";
import { ChatView } from "./chat.js";
import { confirmed, el, icon, iconButton, notify } from "./dom.js";
import { ModelsView } from "./models.js";
import { loadStatus } from "./server.js";
import { allChats, removeChat, saveChat } from "./store.js";
import { checked, newChat, newId } from "./tree.js";

const THEMES = ["auto", "light", "dark"];
const NARROW = matchMedia("(max-width: 760px)");

const side = document.getElementById("side");
const main = document.getElementById("main");
const search = document.getElementById("search");
const chatList = document.getElementById("chats");

let chats = [];
let chat = newChat();
let view = null;

const chatView = new ChatView(() => {
  if (!chats.includes(chatView.chat) && chatView.chat.messages.length) {
    chats.unshift(chatView.chat);
  }
  showChats();
});
const views = {
  chat: { label: "Chat", icon: "chat", make: () => ({ element: chatView.element, open: () => chatView.open(chat), close: () => {} }) },
  models: { label: "Models", icon: "model", make: () => new ModelsView(() => chatView.showModels()) },
  bundles: { label: "Bundles", icon: "bundle", make: () => new BundlesView() },
  devices: { label: "Devices", icon: "device", make: () => new DevicesView() },
  activity: { label: "Activity", icon: "activity", make: () => new ActivityView() },
};

// Views

const wanted = () => location.hash.replace(/^#\/?/, "").split("/")[0];

function route() {
  const name = views[wanted()] ? wanted() : "chat";
  view?.close();
  const entry = views[name];
  entry.made ??= entry.make();
  view = entry.made;
  const opener = iconButton("side", "Show side bar (Ctrl+B)", toggleSide, { class: "icon open-side" });
  main.replaceChildren(opener, view.element);
  document.title = name === "chat" ? "Tenon" : `${entry.label} – Tenon`;
  for (const link of document.querySelectorAll("#views a")) {
    if (link.dataset.view === name) {
      link.setAttribute("aria-current", "page");
    } else {
      link.removeAttribute("aria-current");
    }
  }
  view.open();
  showChats();
  if (NARROW.matches) {
    document.body.classList.remove("side-open");
  }
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

function openChat(next) {
  chat = next;
  if (wanted() === "chat" || wanted() === "") {
    route();
  } else {
    location.hash = "#/chat";
  }
}

function showChats() {
  const text = search.value.toLowerCase();
  const found = chats.filter((each) => !text || each.title.toLowerCase().includes(text) || each.messages.some((m) => m.text.toLowerCase().includes(text)));
  chatList.replaceChildren(
    ...found.map((each) =>
      el(
        "div",
        { class: `entry ${each === chat && view === views.chat.made ? "current" : ""}` },
        el("button", { type: "button", class: "nav", title: each.title, onclick: () => openChat(each) }, each.title || "Chat"),
        iconButton("trash", `Delete ${each.title || "chat"}`, () => deleteChat(each)),
      ),
    ),
    chats.length
      ? el("div", { class: "entry-tools" }, el("button", { type: "button", class: "link", onclick: exportChats }, "Export"), el("button", { type: "button", class: "link", onclick: () => importer.click() }, "Import"))
      : el("div", { class: "entry-tools" }, el("button", { type: "button", class: "link", onclick: () => importer.click() }, "Import chats")),
  );
}

async function deleteChat(old) {
  if (!(await confirmed("Delete chat", `“${old.title}” is deleted from this browser.`, "Delete"))) {
    return;
  }
  chats = chats.filter((each) => each !== old);
  await removeChat(old.id).catch((error) => notify(error.message, true));
  if (old === chat) {
    openChat(newChat());
  }
  showChats();
}

function exportChats() {
  const file = new Blob([JSON.stringify({ tenon_chats: 1, chats }, null, 1)], { type: "application/json" });
  const link = el("a", { href: URL.createObjectURL(file), download: `tenon-chats-${new Date().toISOString().slice(0, 10)}.json` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const importer = el("input", { type: "file", accept: ".json,application/json", class: "hidden", tabIndex: -1, "aria-label": "File of chats", onchange: importChats });

async function importChats() {
  const file = importer.files[0];
  importer.value = "";
  try {
    const data = JSON.parse(await file.text());
    if (data.tenon_chats !== 1 || !Array.isArray(data.chats)) {
      throw new Error("it was not exported from here");
    }
    const read = data.chats.map(checked);
    for (const each of read) {
      if (chats.some((known) => known.id === each.id)) {
        each.id = newId(); // what is there stays
      }
      await saveChat(each);
      chats.push(each);
    }
    chats.sort((a, b) => b.updated - a.updated);
    notify(`${read.length} ${read.length === 1 ? "chat was" : "chats were"} imported.`);
  } catch (error) {
    notify(`${file.name} was not imported: ${error.message}.`, true);
  }
  showChats();
}

// Keys

addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) {
    return;
  }
  const control = event.ctrlKey || event.metaKey;
  if (control && event.shiftKey && event.code === "KeyO") {
    event.preventDefault();
    openChat(newChat());
  } else if (control && !event.shiftKey && event.code === "KeyB") {
    event.preventDefault();
    toggleSide();
  } else if (event.key === "Escape" && chatView.running) {
    chatView.stop();
  } else if (event.key === "/" && !control && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && view === views.chat.made) {
    event.preventDefault();
    chatView.field.focus();
  }
});

// Start

document.body.append(importer);
document.getElementById("hide-side").append(icon("side"));
document.getElementById("hide-side").onclick = toggleSide;
document.getElementById("shade").onclick = toggleSide;
document.getElementById("new-chat").prepend(icon("plus"));
document.getElementById("new-chat").onclick = () => openChat(newChat());
search.oninput = showChats;
showViews();
addEventListener("hashchange", route);
route();

try {
  chats = await allChats();
} catch (error) {
  notify(`Chats are not kept in this browser: ${error.message}`, true);
}
showChats();
try {
  await loadStatus();
  chatView.showModels();
} catch (error) {
  notify(error.message, true);
}
