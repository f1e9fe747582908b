// Entries: pick a collection, ask in everyday words, and send or review its records.

import { get, picture, post } from "./api.js";
import { el, grid, line, notice, show } from "./dom.js";
import { sending } from "./records.js";
import { t } from "./words.js";

const TOP = [5, 10, 20, 50];
/** Below so much even the best entry may have nothing to do with what was asked. */
const FAINT = 0.45;
/** Columns that stand only where some entry has one. */
const MAY_LACK = new Set(["image", "path", "category"]);
const kept = { collection: "", category: "", top: 5, query: "" };

/** `#/entries/<collection>/<query>` is a search that can be linked to. */
export async function entries(wanted, query) {
  const names = (await get("collections")).items;
  if (wanted !== undefined && wanted !== kept.collection) Object.assign(kept, { collection: wanted, category: "" });
  if (query !== undefined) kept.query = query;
  if (kept.collection && !names.includes(kept.collection)) notice(`${t("noCollection")} ${kept.collection}`, true);
  if (!names.includes(kept.collection)) kept.collection = names[0] || "";
  const place = el("div", {});
  const choice = el("select", { id: "collection", onchange: () => {
    location.hash = `#/entries/${encodeURIComponent(choice.value)}`;
  } }, ...names.map((name) => el("option", { value: name, selected: name === kept.collection }, name)));
  show(el("section", { class: "panel" }, el("div", { class: "row" }, el("h2", {}, t("entries")),
    names.length ? el("label", { for: "collection" }, t("collection")) : "", names.length ? choice : "")),
  place, sending(kept.collection));
  if (!names.length) { place.append(el("p", { class: "panel" }, t("noCollections"))); return; }
  await searching(place, query !== undefined);
}

async function searching(place, linked) {
  const { collection } = kept;
  const about = await get(`collections/${encodeURIComponent(collection)}/overview`);
  const query = el("input", { type: "search", id: "words", required: true, maxlength: 4096,
    value: kept.query, autocomplete: "off", oninput: () => { kept.query = query.value; } });
  const category = el("select", { id: "category" }, el("option", { value: "" }, `${t("allCategories")} (${about.entries})`),
    ...about.categories.map((one) => el("option", { value: one.name, selected: one.name === kept.category },
      `${one.name} (${one.entries})`)));
  const top = el("select", { id: "top" },
    ...TOP.map((count) => el("option", { value: count, selected: count === kept.top }, String(count))));
  const results = el("div", { id: "found", "aria-live": "polite" });
  const run = async () => {
    Object.assign(kept, { query: query.value, category: category.value, top: Number(top.value) });
    if (!kept.query.trim()) return;
    const view = `#/entries/${encodeURIComponent(collection)}/${encodeURIComponent(kept.query)}`;
    if (view !== location.hash) history.pushState(null, "", view);
    notice(t("searching"));
    try {
      const found = await post(`collections/${encodeURIComponent(collection)}/search`,
        { query: kept.query, top_k: kept.top, ...(kept.category ? { category: kept.category } : {}) });
      notice("");
      results.replaceChildren(answer(found));
    } catch (error) { notice(error.message, true); }
  };
  const ask = (words) => { query.value = words; return run(); };
  category.addEventListener("change", run);
  top.addEventListener("change", run);
  const form = el("form", { class: "row", role: "search", onsubmit: (event) => {
    event.preventDefault();
    run();
  } }, el("label", { for: "words" }, t("everyday")), query,
  el("label", { for: "category" }, t("category")), category,
  el("label", { for: "top" }, t("howMany")), top, el("button", { class: "main" }, t("search")));
  const quick = el("div", { class: "row quick", role: "group", "aria-label": t("quick") },
    ...about.quick_queries.map((words) => el("button", { type: "button", class: "chip",
      onclick: () => ask(words) }, words)));
  place.append(el("section", { class: "panel" }, el("p", { class: "soft" },
    `${about.entries} ${t("entries").toLowerCase()} · ${about.categories.length} ${t("categories")} · ` +
    `${about.questions} ${t("sampleQuestions")} · ${t("revision")} ${about.revision}`),
  form, el("h3", {}, t("quick")), quick), results);
  if (linked && kept.query) await run();
  else query.focus();
}

const percent = (value) => `${Math.round(100 * value)}%`;

function answer(found) {
  const best = Math.max(...found.entries.map((one) => one.similarity), 0);
  const columns = Object.entries({
    place: (one, index) => el("td", {}, String(index + 1)),
    similarity: (one) => el("td", { class: "nowrap" }, el("meter", { min: 0, max: 1, value: one.similarity,
      "aria-label": t("similarity") }), " ",
    one.similarity === best ? el("strong", {}, percent(one.similarity)) : percent(one.similarity)),
    image: (one) => el("td", {}, ...(one.image ? [pictureOf(one)] : [])),
    name: (one) => el("th", { scope: "row" }, one.name),
    path: (one) => el("td", {}, one.path),
    category: (one) => el("td", {}, one.category),
    id: (one) => el("td", {}, el("code", {}, one.id)),
    why: (one) => el("td", { class: "soft" }, parts(one.channels)),
  }).filter(([name]) => !MAY_LACK.has(name) || found.entries.some((one) => one[name]));
  const heads = columns.map(([name]) => t(name));
  const rows = found.entries.map((one, index) => line(heads, ...columns.map(([, cell]) => cell(one, index))));
  const tried = found.attempts.map((one) => `${one.query} (${percent(one.quality)})`).join(" → ");
  return el("section", { class: "panel" },
    rows.length && best < FAINT ? el("p", { id: "faint" }, t("faint")) : "", rows.length
    ? grid(heads, el("tbody", {}, ...rows))
    : el("p", {}, `${t("nothing")} ${t("askOtherwise")}`),
  el("p", { class: "soft" }, [tried && `${t("attempts")}: ${tried}`,
    found.category && `${t("category")}: ${found.category}`, found.dense ? "" : t("wordsOnly")]
    .filter(Boolean).join(" · ")));
}

/** The picture of an entry, once it is there. */
function pictureOf(entry) {
  const shown = el("img", { class: "shown", alt: entry.name });
  picture(entry.image).then((source) => { shown.src = source; }, () => shown.remove());
  return shown;
}

/** The share of each channel in the score, as percentages. */
function parts(channels) {
  const shares = Object.entries(channels).filter(([name]) => name !== "rerank");
  const total = shares.reduce((sum, [, value]) => sum + value, 0);
  return total ? shares.map(([name, value]) =>
    `${t(`channel_${name}`)} ${percent(value / total)}`).join(" · ") : "";
}
