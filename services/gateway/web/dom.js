// Building nodes: text is always text, and tables are rebuilt from the few tags they need.

import { language, t } from "./words.js";

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

const SHAPE = new Set(["TABLE", "THEAD", "TBODY", "TFOOT", "TR", "TH", "TD", "CAPTION", "BR"]);

/** A table from HTML of a document: tags of tables and spans alone, everything else as text. */
export function tableOf(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  const copy = (source) => {
    if (source.nodeType === Node.TEXT_NODE) return document.createTextNode(source.data);
    if (source.nodeType !== Node.ELEMENT_NODE) return null;
    if (["SCRIPT", "STYLE"].includes(source.tagName)) return null;
    const keep = SHAPE.has(source.tagName);
    const node = keep ? document.createElement(source.tagName) : document.createDocumentFragment();
    if (keep) {
      for (const name of ["rowspan", "colspan"]) {
        const span = Number(source.getAttribute(name));
        if (Number.isInteger(span) && span > 1 && span < 1000) node.setAttribute(name, span);
      }
    }
    for (const child of source.childNodes) {
      const made = copy(child);
      if (made) node.append(made);
    }
    return node;
  };
  return el("div", { class: "scroll" }, copy(parsed.body));
}

/** A row of a table of data; where the window is narrow each cell stands under its head's name. */
export function line(heads, ...cells) {
  cells.forEach((cell, at) => { if (heads[at]) cell.dataset.head = heads[at]; });
  return el("tr", {}, ...cells);
}

/** A table of data; it scrolls, by keys too, where the window is narrow. */
export function grid(heads, rows) {
  return el("div", { class: "scroll", tabindex: "0", role: "group" }, el("table", { class: "cards" }, heads.length ? el("thead", {}, el("tr", {},
    ...heads.map((name) => el("th", { scope: "col" }, name)))) : null, rows));
}

/** A button that chooses files; the browser's own speaks the browser's language. */
export function picker(attributes, onchange = () => {}) {
  const named = el("span", {}, t("choose"));
  const input = el("input", { type: "file", ...attributes, onchange: () => {
    named.textContent = [...input.files].map((file) => file.name).join(", ") || t("choose");
    onchange(input.files);
  } });
  return { input, label: el("label", { class: "pick" }, named, input) };
}

/** Work on all items, a few at a time: a browser has six connections to a service. */
export async function several(items, work, most = 3) {
  const left = [...items];
  await Promise.all(Array.from({ length: most }, async () => {
    while (left.length) await work(left.shift());
  }));
}

export function when(text) {
  return text ? new Date(text).toLocaleString(language()) : "";
}

export function show(...nodes) {
  const main = document.getElementById("main");
  main.replaceChildren(...nodes);
}

export function notice(text, bad = false) {
  const place = document.getElementById("notice");
  place.textContent = text || "";
  place.className = bad ? "bad" : "";
}
