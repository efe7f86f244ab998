// What requests ask for beside the messages. Kept in this browser; an empty field leaves the model's own value.

import { key } from "./api.js";
import { closeButton, el, openDialog } from "./dom.js";

const STORED = "tenon.settings";

const NUMBERS = [
  ["temperature", "Temperature", 0, 5, 0.05, "0 always takes the most probable token"],
  ["top_p", "Top-p", 0, 1, 0.01, "smallest set of tokens with this probability"],
  ["top_k", "Top-k", 0, 100000, 1, "most probable tokens; 0: all"],
  ["min_p", "Min-p", 0, 1, 0.01, "least probability, as a part of the highest"],
  ["repeat_penalty", "Repeat penalty", 0, 5, 0.01, "1: none"],
  ["max_tokens", "Longest answer", 1, 10000000, 1, "tokens"],
  ["seed", "Seed", 0, 4294967295, 1, "the same answer each time"],
];

let current = read();

function read() {
  try {
    return JSON.parse(localStorage.getItem(STORED)) || {};
  } catch {
    return {};
  }
}

// What another tab changes holds here, too; so neither writes over the other's.
addEventListener("storage", (event) => {
  if (event.key === STORED) {
    current = read();
  }
});

export const settings = () => current;

export function change(values) {
  current = { ...current, ...values };
  try {
    localStorage.setItem(STORED, JSON.stringify(current));
  } catch {
    // storage is off or full: they hold for this tab
  }
}

/** How many settings differ from the model's own. */
export function changed() {
  const { model, schemaOn, schema, ...rest } = current;
  return Object.values(rest).filter((value) => value !== "" && value !== undefined && value !== "auto").length + (schemaOn ? 1 : 0);
}

/** The fields of a request. */
export function fields() {
  const request = {};
  for (const [name] of NUMBERS) {
    if (current[name] !== "" && current[name] !== undefined) {
      request[name] = Number(current[name]);
    }
  }
  const stop = (current.stop || "").split("\n").filter(Boolean);
  if (stop.length) {
    request.stop = stop;
  }
  if (current.thinking === "on" || current.thinking === "off") {
    request.chat_template_kwargs = { enable_thinking: current.thinking === "on" };
  }
  if (current.schemaOn && current.schema) {
    request.response_format = { type: "json_schema", json_schema: { name: "answer", strict: true, schema: JSON.parse(current.schema) } };
  }
  return request;
}

function field(label, input, hint) {
  return el("label", { class: "field" }, el("span", {}, label), input, hint ? el("small", {}, hint) : null);
}

export async function openSettings() {
  const inputs = {};
  for (const [name, label, min, max, step] of NUMBERS) {
    inputs[name] = el("input", { type: "number", name, min, max, step: step === 1 ? 1 : "any", value: current[name] ?? "", placeholder: "model's own", inputMode: "decimal", "aria-label": label });
  }
  const system = el("textarea", { name: "system", rows: 4, value: current.system || "", placeholder: "How the model should answer" });
  const stop = el("textarea", { name: "stop", rows: 2, value: current.stop || "", placeholder: "one a line" });
  const thinking = el(
    "select",
    { name: "thinking" },
    ["auto", "on", "off"].map((value) => el("option", { value, selected: value === (current.thinking || "auto") }, { auto: "model's own", on: "on", off: "off" }[value])),
  );
  const schemaOn = el("input", { type: "checkbox", name: "schemaOn", checked: Boolean(current.schemaOn) });
  const schema = el("textarea", {
    name: "schema",
    rows: 7,
    class: "mono",
    spellcheck: false,
    value: current.schema || "",
    placeholder: '{\n  "type": "object",\n  "properties": { "name": { "type": "string" } },\n  "required": ["name"]\n}',
  });
  const apiKey = el("input", { type: "password", name: "key", autocomplete: "off", value: key.get(), placeholder: "none" });
  const check = () => {
    let wrong = "";
    if (schemaOn.checked) {
      try {
        const value = JSON.parse(schema.value);
        wrong = value && typeof value === "object" && !Array.isArray(value) ? "" : "A schema is a JSON object.";
      } catch (error) {
        wrong = `No valid JSON: ${error.message}`;
      }
    }
    schema.setCustomValidity(wrong);
  };
  schema.oninput = check;
  schemaOn.onchange = check;
  check();
  const answer = await openDialog(
    "Settings",
    [
      field("System prompt", system),
      el("h3", {}, "Sampling"),
      el("div", { class: "grid" }, NUMBERS.map(([name, label, , , , hint]) => field(label, inputs[name], hint))),
      el("div", { class: "grid" }, field("Stop texts", stop), field("Reasoning", thinking, "for models that know it")),
      el("h3", {}, "Form of the answer"),
      el("label", { class: "check" }, schemaOn, "JSON that satisfies this schema"),
      field("JSON schema", schema),
      el("h3", {}, "Access"),
      field("API key", apiKey, "kept until the tab is closed"),
      el("h3", {}, "Keys"),
      el(
        "dl",
        { class: "keys" },
        [
          ["Enter", "send"],
          ["Shift+Enter", "new line"],
          ["Esc", "stop the answer"],
          ["Ctrl+Shift+O", "new chat"],
          ["Ctrl+B", "side bar"],
          ["/", "to the message field"],
        ].flatMap(([keys, what]) => [el("dt", {}, el("kbd", {}, keys)), el("dd", {}, what)]),
      ),
    ],
    [
      closeButton("Reset", "reset"),
      el("button", { value: "yes", class: "primary" }, "Save"),
    ],
    { class: "drawer" },
  );
  if (answer === "yes") {
    change({
      ...Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.value])),
      system: system.value,
      stop: stop.value,
      thinking: thinking.value,
      schemaOn: schemaOn.checked,
      schema: schema.value,
    });
    key.set(apiKey.value.trim());
  } else if (answer === "reset") {
    current = { model: current.model };
    change({});
  }
}
