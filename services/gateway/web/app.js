// Which view is shown, the key, and the language.

import { forget, get, key, remember, useNamespace } from "./api.js";
import { arrive } from "./arrival.js";
import { documents, documentView } from "./documents.js";
import { el, notice, show } from "./dom.js";
import { entries } from "./entries.js";
import { jobs, letters } from "./jobs.js";
import { search } from "./search.js";
import { language, switchLanguage, t } from "./words.js";

const VIEWS = { search, entries, documents, jobs, letters, document: documentView };

function relabel() {
  document.documentElement.lang = language();
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = t(node.dataset.text);
  const button = document.getElementById("language");
  button.textContent = language() === "ko" ? "English" : "한국어";
  button.lang = language() === "ko" ? "en" : "ko";
  document.getElementById("leave").hidden = !key();
}

function askForKey(message) {
  const input = el("input", { type: "password", id: "key", autocomplete: "off", required: true });
  const form = el("form", { class: "row", onsubmit: async (event) => {
    event.preventDefault();
    remember(input.value);
    await start();
  } }, el("label", { for: "key" }, t("key")), input, el("button", { class: "main" }, t("enter")));
  show(el("section", { class: "panel" }, el("h2", {}, t("key")), form,
    el("p", { class: "soft" }, t("keyHelp"))));
  notice(message || "", Boolean(message));
  input.focus();
}

async function route() {
  if (!key()) { askForKey(); return; }
  const [name, ...rest] = location.hash.replace(/^#\//, "").split("/");
  const known = VIEWS[name] ? name : "search";
  for (const link of document.querySelectorAll("nav a")) {
    const own = link.getAttribute("href") === `#/${known === "document" ? "documents" : known}`;
    if (own) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  notice("");
  document.title = `${t(known === "document" ? "documents" : known)} · Groundwire`;
  try {
    await VIEWS[known](...rest.map(decodeURIComponent));
  } catch (error) {
    if (error.status === 401) { forget(); askForKey(error.message); }
    else {
      notice(error.message, true);
      show(el("section", { class: "panel" }, el("p", {}, t("noView")), el("p", {}, el("a", { href: "#/search" }, t("search")))));
    }
  }
}

async function start() {
  relabel();
  if (!key()) { askForKey(); return; }
  try {
    useNamespace((await get("/v1/self")).namespace);
  } catch (error) {
    if (error.status === 401) forget();
    relabel();
    askForKey(error.message);
    return;
  }
  relabel();
  await route();
}

const given = new URLSearchParams(location.hash.slice(1));
if (given.get("lang")) switchLanguage(given.get("lang"));
/* A file that is dropped beside its place would take the page's. */
for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
addEventListener("hashchange", () => { document.getElementById("main").focus(); route(); });
document.getElementById("language").addEventListener("click", () => { switchLanguage(); relabel(); route(); });
document.getElementById("leave").addEventListener("click", () => { forget(); start(); });
relabel();
arrive(given, start);
