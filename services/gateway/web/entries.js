// Entries: pick a collection, ask in everyday words, and send or review its records.

import { follow, get, post, raw, sendTo } from "./api.js";
import { el, grid, notice, picker, show } from "./dom.js";
import { problem, said } from "./said.js";
import { language, t } from "./words.js";

const TOP = [5, 10, 20, 50];
const MOST_FINDINGS = 20;
const kept = { collection: "", category: "", top: 5, query: "" };
let outcomes = [];

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
    value: kept.query, autocomplete: "off" });
  const category = el("select", { id: "category" }, el("option", { value: "" }, `${t("allCategories")} (${about.entries})`),
    ...about.categories.map((one) => el("option", { value: one.name, selected: one.name === kept.category },
      `${one.name} (${one.entries})`)));
  const top = el("select", { id: "top" },
    ...TOP.map((count) => el("option", { value: count, selected: count === kept.top }, String(count))));
  const results = el("div", { id: "found", "aria-live": "polite" });
  const run = async () => {
    Object.assign(kept, { query: query.value, category: category.value, top: Number(top.value) });
    if (!kept.query.trim()) return;
    history.replaceState(null, "",
      `#/entries/${encodeURIComponent(collection)}/${encodeURIComponent(kept.query)}`);
    notice("…");
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
  const rows = found.entries.map((one, index) => el("tr", {},
    el("td", {}, String(index + 1)),
    el("td", { class: "nowrap" }, el("meter", { min: 0, max: 1, value: one.similarity,
      "aria-label": t("similarity") }), " ",
    one.similarity === best ? el("strong", {}, percent(one.similarity)) : percent(one.similarity)),
    el("th", { scope: "row" }, one.name), el("td", {}, one.path), el("td", {}, one.category),
    el("td", {}, el("code", {}, one.id)), el("td", { class: "soft" }, parts(one.channels))));
  const tried = found.attempts.map((one) => `${one.query} (${percent(one.quality)})`).join(" → ");
  return el("section", { class: "panel" }, rows.length
    ? grid(["place", "similarity", "name", "path", "category", "id", "why"].map(t), el("tbody", {}, ...rows))
    : el("p", {}, t("nothing")),
  el("p", { class: "soft" }, [tried && `${t("attempts")}: ${tried}`,
    found.category && `${t("category")}: ${found.category}`, found.dense ? "" : t("wordsOnly")]
    .filter(Boolean).join(" · ")));
}

/** The share of each channel in the score, as percentages. */
function parts(channels) {
  const shares = Object.entries(channels).filter(([name]) => name !== "rerank");
  const total = shares.reduce((sum, [, value]) => sum + value, 0);
  return total ? shares.map(([name, value]) =>
    `${t(`channel_${name}`)} ${percent(value / total)}`).join(" · ") : "";
}

function sending(collection) {
  const name = el("input", { id: "into", required: true, value: collection, maxlength: 63,
    pattern: "[a-z0-9]([a-z0-9\\-]*[a-z0-9])?", autocomplete: "off" });
  const kind = el("select", { id: "kind" }, el("option", { value: "entries" }, t("entries")),
    el("option", { value: "queries" }, t("sampleQuestions")), el("option", { value: "review" }, t("review")));
  const { input: file, label } = picker({ id: "records", required: true, accept: ".csv,.xlsx,.jsonl,.ods,.xls" });
  const told = el("div", { "aria-live": "polite" }, ...outcomes);
  const open = !collection || outcomes.length > 0;
  outcomes = [];
  const form = el("form", { class: "row", onsubmit: async (event) => {
    event.preventDefault();
    told.replaceChildren();
    let good = true;
    for (const one of file.files) good = await send(name.value, kind.value, one, told) && good;
    if (!good) return;
    outcomes = [...told.childNodes];
    const view = `#/entries/${encodeURIComponent(name.value)}`;
    if (location.hash === view) dispatchEvent(new Event("hashchange"));
    else location.hash = view;
  } }, el("label", { for: "into" }, t("collection")), name, el("label", { for: "kind" }, t("kind")), kind,
  label, el("button", {}, t("send")));
  return el("details", { class: "panel", open }, el("summary", {}, t("sendRecords")),
    el("p", { class: "soft" }, t("recordsHelp")), form, told,
    collection ? el("p", { class: "row" }, el("button", { type: "button", onclick: () => workbook(collection) },
      t("workbook")), el("span", { class: "soft" }, t("workbookHelp"))) : "");
}

/** The workbook of a review, saved as a file. */
async function workbook(collection) {
  try {
    const answer = await raw(`collections/${encodeURIComponent(collection)}/review.xlsx?lang=${language()}`);
    const link = el("a", { href: URL.createObjectURL(await answer.blob()), download: `${collection}-review.xlsx` });
    link.click();
    URL.revokeObjectURL(link.href);
  } catch (error) { notice(error.message, true); }
}

/** What a review changed, in a line. */
async function changes(collection) {
  const report = await get(`collections/${encodeURIComponent(collection)}/review`);
  return ["added", "removed", "keywords", "feedback", "unknown"]
    .map((name) => `${t(`review_${name}`)} ${report[name].length}`).join(" · ");
}

async function send(collection, kind, file, place) {
  const line = el("p", {}, `${file.name}: …`);
  place.append(line);
  try {
    const accepted = await sendTo(`collections/${encodeURIComponent(collection)}/${kind}`, file, () => {});
    const jobs = kind === "review" ? [accepted.entries, accepted.questions] : [accepted];
    let job = null;
    for (const one of jobs) {
      job = await follow(one.job_id, (state) => { line.textContent = `${file.name}: ${said(state.stage)} · ${said(state.state)}`; });
      if (job.state !== "published") break;
    }
    const unasked = kind === "review" && job.job_id === jobs[1].job_id && job.error?.code === "no_content";
    const good = job.state === "published" || unasked;
    line.textContent = `${file.name}: ${unasked ? said("published") : job.error ? problem(job.error.code, job.error.detail) : said(job.state)}`;
    if (good && kind === "review") line.textContent += ` — ${await changes(collection)}`;
    line.className = good ? "good" : "bad";
    if (good) place.append(await findings(jobs[0]));
    return good;
  } catch (error) {
    line.textContent = `${file.name}: ${error.message}`;
    line.className = "bad";
    return false;
  }
}

/** What was found wrong with single rows. */
async function findings({ document_id: id, revision }) {
  const told = await get(`documents/${encodeURIComponent(id)}/diagnostics?revision=${revision}`);
  const wrong = told.findings.filter((one) => one.severity !== "info");
  return wrong.length ? el("ul", {}, ...wrong.slice(0, MOST_FINDINGS).map((one) => el("li", {},
    `${one.detail}${one.count > 1 ? ` × ${one.count}` : ""}`))) : "";
}
