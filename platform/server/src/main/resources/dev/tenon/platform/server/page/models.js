// The view of the models: what is loaded where, loading and unloading, downloads, and why a model runs where it does.

import { getJson, objects, send } from "./api.js";
import { bytes, confirmed, el, keepFocus, notify, openDialog } from "./dom.js";
import { loadStatus, status } from "./server.js";

const POLL_MILLIS = 3000;
const MOST_OPEN = 3;

export class ModelsView {
  constructor(onModels) {
    this.onModels = onModels;
    this.cards = el("div", { class: "cards" });
    this.pullState = el("p", { class: "pull-state", role: "status" });
    this.source = el("input", { name: "source", placeholder: "owner/repository:quantisation", "aria-label": "Repository and quantisation", required: true, autocomplete: "off", spellcheck: false });
    this.pullButton = el("button", { class: "primary" }, "Download");
    this.cancelButton = el("button", { type: "button", hidden: true, onclick: () => this.pulling.abort() }, "Cancel");
    this.busy = new Map(); // of a model's name what is being done with it
    this.bar = el("progress", { max: 1, hidden: true, "aria-label": "Downloaded part" });
    this.pullForm = el(
      "form",
      {
        class: "panel pull",
        hidden: true,
        onsubmit: (event) => {
          event.preventDefault();
          this.pull();
        },
      },
      el("h2", {}, "Download a model"),
      el("div", { class: "row" }, this.source, this.pullButton, this.cancelButton),
      this.bar,
      this.pullState,
    );
    this.element = el("section", { class: "page", tabIndex: 0, "aria-label": "Models" }, el("h1", {}, "Models"), this.cards, this.pullForm);
  }

  open() {
    this.show();
    this.refresh();
    this.timer = setInterval(() => document.hidden || this.refresh(), POLL_MILLIS);
  }

  close() {
    clearInterval(this.timer);
  }

  async refresh() {
    try {
      await loadStatus();
      this.show();
      this.onModels();
    } catch (error) {
      this.cards.replaceChildren(el("p", { class: "error", role: "alert" }, error.message));
    }
  }

  show() {
    const now = status();
    if (!now) {
      return;
    }
    this.pullForm.hidden = !now.manage.models;
    const text = JSON.stringify([now.models, [...this.busy]]);
    if (text !== this.shown) {
      this.shown = text;
      const cards = now.models.length ? now.models.map((each) => this.card(each, now.manage)) : [el("p", { class: "hint" }, "There is no model yet.")];
      keepFocus(this.cards, () => this.cards.replaceChildren(...cards));
    }
  }

  card(model, manage) {
    const facts = [
      ["Architecture", model.architecture],
      ["Runs on", model.loaded ? `${model.device} (${model.backend})` : null],
      ["Context", model.context_length?.toLocaleString()],
      ["File", bytes(model.file_bytes)],
      ["Memory", model.memory_bytes ? bytes(model.memory_bytes) : null],
      ["Loaded in", model.load_ms !== undefined ? `${model.load_ms.toLocaleString()} ms` : null],
      ["Also called", model.aliases.join(", ")],
      ["Unloaded", model.expires ? `at ${new Date(model.expires).toLocaleTimeString()} unless it is used` : null],
    ];
    const cache = model.cache;
    if (cache?.pages) {
      const used = cache.pages - cache.free_pages;
      facts.push(["KV cache", `${used} of ${cache.pages} pages in use, ${cache.kept_pages} kept for reuse`]);
    }
    const state = model.running ? `${model.running} running` : model.loaded ? "loaded" : "not loaded";
    // A button says while it works what it does, and does it once.
    const button = (label, busy, action, handler, props = {}) => {
      const works = this.busy.get(model.name) === action;
      const once = () => this.busy.has(model.name) || this.work(model.name, action, handler);
      return el("button", { type: "button", onclick: once, "aria-busy": works ? "true" : null, ...props, key: `${action} ${model.name}` }, works ? busy : label);
    };
    return el(
      "article",
      { class: "panel card" },
      el(
        "header",
        {},
        el("h2", {}, model.name),
        el("span", { class: `badge ${model.loaded ? "on" : ""}` }, model.waiting ? `${state}, ${model.waiting} waiting` : state),
      ),
      el("dl", {}, facts.filter(([, value]) => value).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))])),
      el(
        "div",
        { class: "buttons" },
        manage.bundles ? button("Why here?", "Looking …", "why", () => this.why(model.name)) : null,
        manage.models && !model.loaded ? button("Load", "Loading …", "change", () => this.change(model.name, {}), { class: "primary" }) : null,
        manage.models && model.loaded ? button("Unload", "Unloading …", "change", () => this.change(model.name, { keep_alive: 0 })) : null,
        manage.models && !model.pinned ? button("Delete", "Deleting …", "delete", () => this.remove(model.name), { class: "danger" }) : null,
      ),
    );
  }

  /** Does something with a model, and shows that meanwhile; what fails is told. */
  async work(model, action, handler) {
    this.busy.set(model, action);
    this.show();
    try {
      const after = await handler();
      this.busy.delete(model);
      await this.refresh();
      await after?.();
    } catch (error) {
      notify(error.message, true);
      this.busy.delete(model);
      this.show();
    }
  }

  change(model, options) {
    return send("/api/generate", { json: { model, stream: false, ...options } }).then(() => null);
  }

  async remove(model) {
    if (await confirmed("Delete model", `${model} is deleted from this machine's models.`, "Delete")) {
      await send("/api/delete", { method: "DELETE", json: { model } });
    }
  }

  async pull() {
    const source = this.source.value.trim();
    this.pulling = new AbortController();
    this.showPull(true);
    this.bar.removeAttribute("value");
    this.pullState.textContent = `Looking for ${source} …`;
    try {
      const answer = await send("/api/pull", { json: { model: source, stream: true }, signal: this.pulling.signal });
      for await (const step of objects(answer)) {
        this.pullState.textContent = step.total ? `${step.status}: ${bytes(step.completed || 0)} of ${bytes(step.total)}` : step.status;
        if (step.total) {
          this.bar.value = (step.completed || 0) / step.total;
        }
      }
      notify(`${source} was downloaded.`);
      this.source.value = "";
      this.pullState.textContent = "";
    } catch (error) {
      this.pullState.textContent = this.pulling.signal.aborted ? `The download of ${source} was cancelled. Downloaded again, it goes on where it was.` : error.message;
    } finally {
      keepFocus(this.pullForm, () => this.showPull(false), () => this.source);
      this.refresh();
    }
  }

  showPull(running) {
    this.pullButton.disabled = running;
    this.cancelButton.hidden = !running;
    this.bar.hidden = !running;
  }

  /** Why a model runs where it does; returns what shows it. */
  async why(model) {
    const reasons = await getJson("/tenon/bundles/why", { json: { model } });
    return () => openDialog(`Why ${model} runs where it does`, whyTable(reasons), [], { class: "broad" });
  }
}

function candidateRow(candidate) {
  return el(
    "li",
    { class: candidate.taken ? "taken" : "" },
    el("span", { class: "mono" }, candidate.name),
    el("span", {}, candidate.bundle),
    el("span", {}, `${candidate.taken ? "taken" : "not taken"}: ${candidate.reason}`),
  );
}

/** The selections; those with the same candidates and reasons stand together. */
function whyTable({ choices, not_running: notRunning }) {
  const alike = new Map();
  for (const choice of choices) {
    const same = choice.kind + JSON.stringify(choice.candidates).replace(/ for [\w.]+\.weight/g, "");
    alike.set(same, [...(alike.get(same) || []), choice]);
  }
  const parts = [...alike.values()].map(([first, ...others]) => {
    const taken = first.candidates.filter((each) => each.taken);
    const rest = first.candidates.filter((each) => !each.taken);
    return el(
      "section",
      { class: "why" },
      el("h3", {}, `${first.kind} `, el("span", { class: "mono" }, first.subject), others.length ? ` and ${others.length} more` : ""),
      el("ul", {}, taken.map(candidateRow)),
      rest.length > MOST_OPEN
        ? el("details", {}, el("summary", {}, `${rest.length} not taken`), el("ul", {}, rest.map(candidateRow)))
        : el("ul", {}, rest.map(candidateRow)),
    );
  });
  for (const each of notRunning) {
    parts.push(el("section", { class: "why" }, el("h3", {}, `${each.bundle} does not run`), el("p", {}, each.reason)));
  }
  return parts;
}
