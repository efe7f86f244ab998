// The views of the platform's parts: bundles (install, update, remove), and backends with their devices.

import { ApiError, getJson, send } from "./api.js";
import { bytes, confirmed, el, keepFocus, notify } from "./dom.js";
import { loadStatus } from "./server.js";

const COLUMNS = ["Bundle", "State", "Offers", "Reaches"];

export class BundlesView {
  constructor() {
    this.filter = el("input", { type: "search", placeholder: "Filter", "aria-label": "Filter bundles", oninput: () => this.show() });
    this.table = el("tbody", {});
    this.count = el("p", { class: "hint" });
    this.file = el("input", { type: "file", accept: ".jar", class: "hidden", tabIndex: -1, "aria-label": "Jar of a bundle", onchange: () => this.install([...this.file.files]) });
    this.upload = el("button", { type: "button", class: "primary", onclick: () => this.file.click() }, "Install or update …");
    this.work = el("p", { role: "status", class: "hint" });
    this.element = el(
      "section",
      { class: "page broad", tabIndex: 0, "aria-label": "Bundles" },
      el("h1", {}, "Bundles"),
      el(
        "p",
        { class: "lead" },
        "Formats, architectures, backends and commands come as bundles. A new version is tested beside the old one; models move to it while they answer.",
      ),
      el("div", { class: "row" }, this.filter, el("span", { class: "grow" }), this.upload, this.file),
      this.work,
      el(
        "div",
        { class: "table", tabIndex: 0 },
        el("table", {}, el("thead", {}, el("tr", {}, COLUMNS.map((name) => el("th", { scope: "col" }, name)), el("th", { scope: "col" }, el("span", { class: "hidden" }, "Change")))), this.table),
      ),
      this.count,
    );
    this.element.addEventListener("dragover", (event) => event.preventDefault());
    this.element.addEventListener("drop", (event) => {
      event.preventDefault();
      this.install([...event.dataTransfer.files]);
    });
  }

  async open() {
    this.bundles = null;
    await this.refresh();
  }

  close() {}

  async refresh() {
    try {
      const [now, platform] = await Promise.all([loadStatus(), getJson("/tenon/platform")]);
      this.manage = now.manage;
      this.bundles = platform.bundles || [];
      this.upload.hidden = !now.manage.allowed || !platform.bundles;
      this.none = platform.bundles ? "" : "This server runs without a framework, so it has no bundles.";
      this.show();
    } catch (error) {
      this.count.textContent = error.message;
    }
  }

  show() {
    if (!this.bundles && !this.none) {
      return; // the server has not told them yet
    }
    const text = this.filter.value.toLowerCase();
    const shown = (this.bundles || []).toSorted(order).filter((each) => JSON.stringify([each.name, each.state, each.services, each.problems]).toLowerCase().includes(text));
    keepFocus(this.table, () => this.table.replaceChildren(...shown.map((each) => this.row(each))), () => this.filter);
    const count = shown.length ? `${shown.length} of ${this.bundles.length} bundles.` : `No bundle has “${this.filter.value}”.`;
    this.count.textContent = this.none || `${count} ${this.manage.allowed ? "" : "Nothing can be changed here: serve.manage is off, or others reach this server without keys."}`;
  }

  row(bundle) {
    const good = bundle.state === "ACTIVE" && bundle.problems.length === 0;
    const tone = good ? "on" : bundle.problems.length ? "bad" : "";
    return el(
      "tr",
      {},
      el("td", {}, el("span", { class: "name" }, bundle.name), el("small", { title: bundle.sha256 ? `SHA-256 ${bundle.sha256}` : "" }, `${bundle.version}${bundle.signer ? ` · ${bundle.signer}` : ""}`)),
      el("td", { "data-label": "State" }, el("span", { class: `badge ${tone}` }, bundle.state.toLowerCase())),
      el("td", { class: "quiet", "data-label": bundle.problems.length ? "Problems" : bundle.services.length ? "Offers" : null }, bundle.services.join(", "), bundle.problems.map((problem) => el("small", { class: "error" }, problem))),
      el("td", { class: "quiet", "data-label": bundle.access ? "Reaches" : null }, bundle.access.replaceAll(",", ", ")),
      el(
        "td",
        { class: "end" },
        this.manage.allowed && bundle.removable
          ? el("button", { type: "button", class: "small", key: bundle.name, "aria-label": `Remove ${bundle.name}`, onclick: () => this.remove(bundle.name) }, "Remove")
          : null,
      ),
    );
  }

  async install(files) {
    this.file.value = "";
    for (const file of files) {
      await this.change(`${file.name} is tested and installed …`, () =>
        send("/tenon/bundles/install", { body: file, type: "application/java-archive" }),
      );
    }
  }

  async remove(name) {
    if (await confirmed("Remove bundle", `${name} is removed. Models that use it move to what is left, or their answers end.`, "Remove")) {
      await this.change(`${name} is removed …`, () => send("/tenon/bundles/remove", { json: { name } }));
    }
  }

  async change(text, action) {
    this.work.textContent = text;
    this.upload.disabled = true;
    try {
      notify(await outcome(await action()));
    } catch (error) {
      notify(error.message, true);
    } finally {
      this.work.textContent = "";
      this.upload.disabled = false;
      await this.refresh();
    }
  }
}

/** What a change did, once it is done; the server tells an id of one that takes long. */
async function outcome(answer) {
  let { done, change } = await answer.json();
  while (!done) {
    try {
      done = (await getJson(`/tenon/bundles/changes/${change}`)).done;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) {
        return "The server itself was replaced. The list shows what runs now.";
      }
      throw error;
    }
  }
  return done;
}

/** Those with problems first, then what was installed, then ours, then libraries. */
function order(a, b) {
  const rank = (each) => (each.problems.length ? 0 : each.removable ? 1 : each.name.startsWith("dev.tenon.") ? 2 : 3);
  return rank(a) - rank(b) || a.name.localeCompare(b.name);
}

export class DevicesView {
  constructor() {
    this.cards = el("div", { class: "cards" });
    this.rest = el("div", { class: "stack" });
    this.element = el("section", { class: "page", tabIndex: 0, "aria-label": "Devices" }, el("h1", {}, "Backends and devices"), this.cards, this.rest);
  }

  async open() {
    try {
      const { backends, architectures, formats } = await getJson("/tenon/platform");
      this.cards.replaceChildren(...backends.map(backendCard));
      const list = (title, names) => el("section", { class: "panel" }, el("h2", {}, title), el("p", { class: "tags" }, names.sort().map((name) => el("span", { class: "tag" }, name))));
      this.rest.replaceChildren(list("Architectures", architectures), list("Weight formats", formats));
    } catch (error) {
      this.cards.replaceChildren(el("p", { class: "error", role: "alert" }, error.message));
    }
  }

  close() {}
}

function backendCard(backend) {
  return el(
    "article",
    { class: "panel card" },
    el("header", {}, el("h2", {}, backend.id), el("span", { class: `badge ${backend.available ? "on" : ""}` }, backend.available ? "available" : "not available")),
    el("p", { class: "hint" }, backend.reason),
    backend.devices.map((device) =>
      el(
        "div",
        { class: "device" },
        el("h3", {}, device.name),
        el(
          "dl",
          {},
          [["Kind", device.kind], ["Memory", device.memory_bytes ? bytes(device.memory_bytes) : null], ...Object.entries(device.details)]
            .filter(([, value]) => value)
            .flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
        ),
      ),
    ),
    el("p", { class: "hint" }, `${backend.bundle}, rank ${backend.rank}`),
  );
}
