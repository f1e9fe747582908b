// Jobs and dead letters: what runs, what failed and why, and what an operator can do about it.

import { get, post, remove } from "./api.js";
import { el, grid, line, notice, show, when } from "./dom.js";
import { problem, said } from "./said.js";
import { t } from "./words.js";

const LIVE = new Set(["waiting", "running"]);
const PAGE = 50, SOON = 2000;

function listing(title, columns, read, rowOf) {
  const rows = el("tbody", {});
  const more = el("button", { type: "button", hidden: true }, t("more"));
  const empty = el("p", { hidden: true }, t("none"));
  let cursor = null;
  const load = async (fresh) => {
    const page = await read(fresh ? null : cursor);
    if (fresh) rows.replaceChildren();
    rows.append(...page.items.map((item) => rowOf(item, () => load(true))));
    cursor = page.next_cursor;
    more.hidden = !cursor;
    empty.hidden = rows.childElementCount > 0;
    if (fresh && page.items.some((item) => LIVE.has(item.state))) setTimeout(again, SOON);
  };
  /* What is at work is looked at again while it is in view, and nobody is in the middle of it. */
  const again = () => {
    if (!rows.isConnected) return;
    if (document.hidden || rows.childElementCount > PAGE || rows.contains(document.activeElement)) setTimeout(again, SOON);
    else load(true).catch((error) => notice(error.message, true));
  };
  more.addEventListener("click", () => load(false));
  show(el("section", { class: "panel" }, el("h2", {}, title), grid(columns, rows),
  empty, more));
  return load(true);
}

const paged = (path) => (cursor) => get(`${path}${path.includes("?") ? "&" : "?"}limit=${PAGE}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);

export function jobs() {
  const heads = [t("name"), t("state"), t("stage"), t("reason"), t("changed"), ""];
  return listing(t("jobs"), heads, paged("jobs"),
    (job, again) => line(heads,
      el("td", { class: "long" }, el("a", { href: `#/document/${encodeURIComponent(job.document_id)}`, dir: "auto" }, job.file_name)),
      el("td", { class: job.state === "failed" ? "bad" : "" }, said(job.state)),
      el("td", {}, `${said(job.stage)} ${job.progress.done}/${job.progress.total}`),
      el("td", { class: job.error ? "long" : "" }, job.error ? problem(job.error.code, job.error.detail) : ""),
      el("td", { class: "nowrap" }, when(job.updated_at)),
      el("td", {}, LIVE.has(job.state) ? el("button", { type: "button", onclick: async () => {
        try { await post(`jobs/${job.job_id}/cancel`); } catch (error) { notice(error.message, true); }
        await again();
      } }, t("cancel")) : "")));
}

export function letters() {
  const act = (work, again) => async () => {
    try { await work(); await again(); } catch (error) { notice(error.message, true); }
  };
  const heads = [t("stage"), t("reason"), t("documents"), t("changed"), ""];
  return listing(t("letters"), heads, paged("/v1/dead-letters"),
    (letter, again) => {
      const place = `/v1/dead-letters/${encodeURIComponent(letter.dead_letter_id)}`;
      return line(heads, el("td", {}, said(letter.stage)), el("td", { class: "long" }, problem(letter.code, letter.detail)),
        el("td", {}, letter.document_id
          ? el("a", { href: `#/document/${encodeURIComponent(letter.document_id)}` }, letter.document_id) : "", " ",
          letter.trace_url ? el("a", { href: letter.trace_url, rel: "noreferrer" }, t("trace")) : ""),
        el("td", {}, when(letter.parked_at)),
        el("td", {}, el("div", { class: "row" }, el("button", { type: "button", onclick: act(() => post(`${place}/replay`), again) }, t("replay")),
          el("button", { type: "button", onclick: act(async () => {
            const reason = prompt(t("discardWhy"));
            if (reason) await remove(`${place}?reason=${encodeURIComponent(reason)}`);
          }, again) }, t("discard")))));
    });
}
