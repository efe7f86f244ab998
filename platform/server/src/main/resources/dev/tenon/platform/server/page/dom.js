// Elements without markup in strings: whatever text they get stays text.

const SVG = "http://www.w3.org/2000/svg";

const ICONS = {
  side: "M4 5h16v14H4zM9.5 5v14",
  plus: "M12 5v14M5 12h14",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  picture: "M4 6h16v13H4zM4 16.5l5-5 4 4 2.5-2.5 4.5 4M15 9.5h1.5",
  clip: "M19 11l-7.5 7.5a4.5 4.5 0 0 1-6.4-6.4L13 4.3a3 3 0 0 1 4.2 4.2l-7.7 7.8a1.5 1.5 0 0 1-2.1-2.1l7-7",
  sliders: "M5 7h8M17 7h2M5 17h2M11 17h8M15 5v4M9 15v4",
  copy: "M9 9h10v10H9zM5 15V5h10",
  check: "M5 12.5l4.5 4.5L19 7.5",
  edit: "M5 19l1-4L16 5l3 3L9 18z",
  again: "M19 12a7 7 0 1 1-2.1-5M19 4v4h-4",
  trash: "M5 7h14M10 7V5h4v2M7 7l1 12h8l1-12",
  left: "M14 6l-6 6 6 6",
  right: "M10 6l6 6-6 6",
  close: "M6 6l12 12M18 6L6 18",
  down: "M12 5v14M6 13l6 6 6-6",
  chat: "M5 6h14v10H11l-4 3v-3H5z",
  model: "M12 4l7 4v8l-7 4-7-4V8zM5 8l7 4 7-4M12 12v8",
  bundle: "M5 5h6v6H5zM13 13h6v6h-6zM13 5h6v6h-6zM5 13h6v6H5z",
  device: "M7 7h10v10H7zM10 4v3M14 4v3M10 17v3M14 17v3M4 10h3M4 14h3M17 10h3M17 14h3",
  activity: "M4 12h4l2.5-6 3.5 12 2.5-6H20",
  theme: "M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16",
};

/** An element with properties, handlers (`onclick` and so on), attributes, a `key` for `keepFocus`, and children; null children are left out. */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) {
      continue;
    }
    if (name === "key") {
      node.dataset.key = value;
    } else if (name === "class") {
      node.className = value;
    } else if (name.startsWith("on")) {
      node.addEventListener(name.slice(2), value);
    } else if (name in node && name !== "list" && name !== "form") {
      node[name] = value;
    } else {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** A button that shows an icon alone; the label is for screen readers and as a hint. */
export function iconButton(name, label, onclick, props = {}) {
  return el("button", { type: "button", class: "icon", title: label, "aria-label": label, onclick, ...props }, icon(name));
}

/**
 * Changes what a box holds. The focus stays at the control with the same `data-key`; where that is gone or cannot be used, it
 * goes to `otherwise()`, or to the first button of the box.
 */
export function keepFocus(box, change, otherwise = () => null) {
  const focused = box.contains(document.activeElement) ? document.activeElement : null;
  change();
  if (focused && !(box.contains(focused) && !focused.disabled)) {
    const key = focused.dataset.key;
    const same = key && box.querySelector(`[data-key="${CSS.escape(key)}"]:not(:disabled)`);
    (same || otherwise() || box.querySelector("button:not(:disabled)"))?.focus({ preventScroll: true });
  }
}

/** Tells something in a corner for some seconds; errors stay until they are closed. */
export function notify(text, error = false) {
  const box = document.getElementById("notices");
  const note = el(
    "div",
    { class: error ? "notice error" : "notice" },
    el("span", {}, text),
    iconButton("close", "Close", () => note.remove()),
  );
  box.append(note);
  while (box.children.length > 4) {
    box.firstChild.remove();
  }
  if (!error) {
    setTimeout(() => note.remove(), 6000);
  }
}

/** Opens a dialog and removes it when it is closed; resolves to the value that it was closed with. */
export function openDialog(title, body, buttons, props = {}) {
  return new Promise((resolve) => {
    const dialog = el(
      "dialog",
      { "aria-label": title, ...props },
      el(
        "form",
        { method: "dialog" },
        el("header", {}, el("h2", {}, title), iconButton("close", "Close", () => dialog.close(""))),
        el("div", { class: "dialog-body" }, body),
        buttons.length ? el("footer", {}, buttons) : null,
      ),
    );
    dialog.addEventListener("close", () => {
      resolve(dialog.returnValue);
      dialog.remove();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** A button that closes its dialog with a value, without being the one that Enter presses. */
export function closeButton(label, value, props = {}) {
  return el("button", { type: "button", onclick: (event) => event.target.closest("dialog").close(value), ...props }, label);
}

/** Asks whether to do something that cannot be undone. */
export async function confirmed(title, text, label) {
  const answer = await openDialog(title, el("p", {}, text), [
    closeButton("Cancel", "", { autofocus: true }),
    el("button", { value: "yes", class: "danger" }, label),
  ]);
  return answer === "yes";
}

/** Copies a text, and shows on the button that it was done. */
export async function copyFrom(button, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { value: text, class: "hidden" }); // pages without TLS have no clipboard
    (button.closest("dialog") || document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.replaceChildren(icon("check"));
  setTimeout(() => button.replaceChildren(icon("copy")), 1500);
}

export function bytes(count) {
  if (!count) {
    return "–";
  }
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const unit = Math.min(units.length - 1, Math.floor(Math.log2(count) / 10));
  const value = count / 2 ** (10 * unit);
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function duration(seconds) {
  if (seconds < 60) {
    return `${Math.round(seconds)} s`;
  }
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
