// Sending a collection its records: files, which of their columns is what, and edited reviews.

import { follow, get, raw, sendTo } from "./api.js";
import { el, notice, picker } from "./dom.js";
import { problem, said } from "./said.js";
import { language, t } from "./words.js";

const MOST_FINDINGS = 20;
const FIELDS = {
  entries: ["id", "name", "path", "category", "keywords", "search_count", "text", "image", "visible"],
  queries: ["id", "question"],
};
const HEAD_BYTES = 65536;
let outcomes = [];

/** The form that sends records, open where there is nothing yet or something was just sent. */
export function sending(collection) {
  const name = el("input", { id: "into", required: true, value: collection, maxlength: 63, title: t("collectionNames"),
    pattern: "[a-z0-9]([a-z0-9\\-]*[a-z0-9])?", autocomplete: "off" });
  const kind = el("select", { id: "kind", onchange: () => rules.showFor(kind.value) },
    el("option", { value: "entries" }, t("entries")),
    el("option", { value: "queries" }, t("sampleQuestions")), el("option", { value: "review" }, t("review")));
  const rules = ruling();
  const { input: file, label } = picker({ id: "records", required: true, accept: ".csv,.tsv,.xlsx,.jsonl,.ods,.xls" },
    async (files) => rules.offer(files.length ? await headsOf(files[0]) : []));
  const told = el("div", { "aria-live": "polite" }, ...outcomes);
  const open = !collection || outcomes.length > 0;
  outcomes = [];
  const button = el("button", { class: "main" }, t("send"));
  const form = el("form", { onsubmit: async (event) => {
    event.preventDefault();
    told.replaceChildren();
    button.disabled = true;
    let good = true;
    for (const one of file.files) good = await send(name.value, kind.value, one, told, rules.options(kind.value)) && good;
    button.disabled = false;
    if (!good) return;
    outcomes = [...told.childNodes];
    const view = `#/entries/${encodeURIComponent(name.value)}`;
    if (location.hash === view) dispatchEvent(new Event("hashchange"));
    else location.hash = view;
  } }, el("div", { class: "row" }, el("label", { for: "into" }, t("collection")), name,
    el("label", { for: "kind" }, t("kind")), kind, label, button), rules.node);
  return el("details", { class: "panel", open }, el("summary", {}, t("sendRecords")),
    el("p", { class: "soft" }, t("recordsHelp")), form, told,
    collection ? el("p", { class: "row" }, el("button", { type: "button", onclick: () => workbook(collection) },
      t("workbook")), el("span", { class: "soft" }, t("workbookHelp"))) : "");
}

/** How a file is read: which column is what, whether it replaces what is there, and faulty rows. */
function ruling() {
  const replace = el("input", { type: "checkbox", id: "replace" });
  const strict = el("input", { type: "checkbox", id: "strict" });
  const columns = el("datalist", { id: "columns" });
  const fields = el("div", { class: "fields" });
  const given = {};
  const node = el("details", { id: "rules" }, el("summary", {}, t("columnRules")),
    el("p", { class: "soft" }, t("columnHelp")), fields, columns,
    el("p", { class: "row" }, el("label", {}, replace, " ", t("replaceAll")),
      el("label", {}, strict, " ", t("refuseFaulty"))));
  const showFor = (kind) => {
    node.hidden = !FIELDS[kind];
    fields.replaceChildren(...(FIELDS[kind] || []).map((field) => el("label", {}, t(`field_${field}`),
      el("input", { list: "columns", autocomplete: "off", "data-field": field, value: given[field] || "",
        placeholder: field, oninput: (event) => { given[field] = event.target.value; } }))));
  };
  showFor("entries");
  return {
    node,
    showFor,
    offer: (heads) => columns.replaceChildren(...heads.map((head) => el("option", { value: head }))),
    options: (kind) => FIELDS[kind] && { records: {
      columns: Object.fromEntries(FIELDS[kind].map((field) => [field, (given[field] || "").trim()])
        .filter(([, column]) => column)),
      mode: replace.checked ? "replace" : "merge",
      on_error: strict.checked ? "refuse" : "skip",
    } },
  };
}

/** The names of a text file's columns, to choose from; a workbook's are known to the service alone. */
async function headsOf(file) {
  if (!/\.(csv|tsv|jsonl)$/i.test(file.name)) return [];
  const [first] = (await file.slice(0, HEAD_BYTES).text()).replace(/^\uFEFF/, "").split(/\r?\n/);
  if (/\.jsonl$/i.test(file.name)) {
    try { return Object.keys(JSON.parse(first)); } catch { return []; }
  }
  const mark = ["\t", ";", ","].find((one) => first.includes(one)) || ",";
  return first.split(mark).map((head) => head.trim().replace(/^"(.*)"$/, "$1")).filter(Boolean);
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

async function send(collection, kind, file, place, options) {
  const line = el("p", {}, `${file.name}: …`);
  place.append(line);
  try {
    const accepted = await sendTo(`collections/${encodeURIComponent(collection)}/${kind}`, file, () => {}, options);
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
