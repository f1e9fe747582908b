// Search in both modes: evidence beside its page, the receipt, and the plan as a picture.

import { picture, post } from "./api.js";
import { el, grid, line, notice, show, tableOf } from "./dom.js";
import { planPicture } from "./plan.js";
import { explained, said } from "./said.js";
import { t } from "./words.js";

let last = { query: "", mode: "classic", answer: null };
let typed = null;

/** `#/search/<mode>/<query>` is a search that can be linked to. */
export async function search(wantedMode, wanted) {
  if (wanted && wanted !== last.query) typed = null;
  const linked = wanted && (wanted !== last.query || wantedMode !== last.mode);
  if (linked) last = { query: wanted, mode: wantedMode === "agentic" ? "agentic" : "classic", answer: null };
  const query = el("input", { type: "search", id: "query", required: true, maxlength: 4096,
    value: typed ?? last.query, autocomplete: "off", oninput: () => { typed = query.value; } });
  const mode = el("select", { id: "mode" },
    ...["classic", "agentic"].map((name) => el("option", { value: name, selected: name === last.mode }, t(name))));
  const results = el("div", { id: "results" });
  const run = async () => {
    const asked = last;
    notice(t("searching"));
    results.setAttribute("aria-busy", "true");
    try {
      const answer = await post("search", { query: asked.query, mode: asked.mode, top_k: 10, explain: true });
      if (asked !== last) return;
      last.answer = answer;
      notice("");
      render(results);
    } catch (error) { notice(error.message, true); }
    results.removeAttribute("aria-busy");
  };
  const form = el("form", { class: "row", role: "search", onsubmit: (event) => {
    event.preventDefault();
    last = { query: query.value, mode: mode.value, answer: null };
    const view = `#/search/${last.mode}/${encodeURIComponent(last.query)}`;
    if (view !== location.hash) history.pushState(null, "", view);
    run();
  } }, el("label", { for: "query" }, t("query")), query,
  el("label", { for: "mode" }, t("mode")), mode, el("button", { class: "main" }, t("search")));
  show(el("section", { class: "panel" }, form), results);
  if (last.answer) render(results);
  else if (linked) await run();
  else results.append(el("p", { class: "soft" }, t("searchHelp")));
  query.focus();
}

function render(place) {
  const answer = last.answer;
  const aside = el("div", { class: "panel stick", "aria-live": "polite" },
    el("p", { class: "soft" }, t("chooseHit")));
  const buttons = answer.evidence.map((piece, index) => el("button", {
    type: "button", class: "hit", "aria-pressed": "false",
    onclick: (event) => choose(event.currentTarget, buttons, piece, aside, split),
  }, el("strong", {}, `${index + 1}. ${piece.source_file_name}`),
  el("div", { class: "soft" }, place_of(piece)),
  el("p", { class: "text" }, shortened(piece.content))));
  const summary = el("p", { class: "soft" }, [
    said(answer.status) + (answer.status_reason ? ` — ${explained(answer.status_reason)}` : ""),
    `${answer.evidence.length} ${t("pieces")}`, `${answer.budget.spent.milliseconds ?? 0} ms`,
    `${answer.budget.spent.tokens ?? 0} ${said("tokens")}`, answer.cached ? t("cached") : ""].filter(Boolean).join(" · "));
  const split = el("div", { class: "split" },
    el("section", { "aria-label": t("evidence") }, el("h2", {}, t("evidence")), summary,
      ...(buttons.length ? buttons : [el("p", {}, t("nothing"))]), unopened(answer)));
  if (buttons.length) split.append(aside);
  place.replaceChildren(
    answer.clarification ? el("p", { class: "panel" }, answer.clarification) : "",
    receipt(answer), split);
  if (buttons.length && !NARROW.matches) buttons[0].click();
}

const place_of = (piece) => [piece.section_path.join(" › "),
  piece.page_numbers.length ? `${t("page")} ${piece.page_numbers.join(", ")}` : "",
  piece.score ? `${t("score")} ${piece.score.toFixed(2)}` : ""].filter(Boolean).join(" · ");

const NARROW = matchMedia("(max-width: 60rem)");
const plain = (text) => text.replace(/\[\[(?:image|table):[^\]]*\]\]/g, "").trim();
const shortened = (text) => (plain(text).length > 400 ? `${plain(text).slice(0, 400)}…` : plain(text));

/** Show a piece whole: beside the list, or where there is no room beside it right below. */
async function choose(button, buttons, piece, aside, split) {
  if (NARROW.matches) button.after(aside);
  else split.append(aside);
  for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
  const cite = { document_id: piece.document_id, revision: piece.revision,
    chunk_id: piece.chunk_id, content_hash: piece.content_hash };
  const verdict = el("span", { class: "soft" });
  const pictures = el("div", {});
  const tables = piece.assets.filter((asset) => asset.html).map((asset) => tableOf(asset.html));
  aside.replaceChildren(
    el("h3", {}, piece.source_file_name), el("p", { class: "soft" }, place_of(piece)),
    el("p", { class: "text" }, plain(piece.content)), ...tables,
    el("div", { class: "row" },
      el("button", { type: "button", onclick: async () => {
        try {
          await navigator.clipboard.writeText(JSON.stringify(cite));
          verdict.textContent = t("copied");
        } catch { verdict.replaceChildren(t("copyByHand"), " ", el("code", {}, JSON.stringify(cite))); }
      } }, t("copy")),
      el("button", { type: "button", onclick: async () => {
        try {
          const { status } = await post("verify", cite);
          verdict.textContent = said(status);
          verdict.className = status === "verified" ? "good" : "bad";
        } catch (error) { notice(error.message, true); }
      } }, t("verify")),
      el("a", { href: `#/document/${encodeURIComponent(piece.document_id)}` }, t("openDocument")), verdict),
    pictures);
  const pages = [...new Set(piece.boxes.map((box) => box.page))].slice(0, 3);
  if (!pages.length && piece.page_numbers.length) pages.push(piece.page_numbers[0]);
  for (const page of pages) {
    const marks = piece.boxes.filter((box) => box.page === page).map((box) => box.bbox.join(",")).join(";");
    const address = `documents/${encodeURIComponent(piece.document_id)}/pages/${page}.png?width=900` +
      `&revision=${piece.revision}${marks ? `&boxes=${encodeURIComponent(marks)}` : ""}`;
    try {
      const source = await picture(address);
      pictures.append(el("img", { class: "page", src: source, alt: `${piece.source_file_name}, ${t("page")} ${page}` }));
    } catch (error) {
      pictures.append(el("p", { class: "soft" }, error.status === 422 ? t("noPicture") : error.message));
      break;
    }
  }
  for (const asset of piece.assets.filter((one) => one.type === "image" && one.href)) {
    try {
      pictures.append(el("img", { class: "page", src: await picture(asset.href), alt: t("images") }));
    } catch { /* an asset that is gone is not shown */ }
  }
}

function unopened(answer) {
  if (!answer.outline.length) return "";
  return el("details", { class: "panel" }, el("summary", {}, `${t("unopened")} (${answer.outline.length})`),
    ...answer.outline.map((item) => el("p", {}, el("strong", {}, item.title),
      el("span", { class: "soft" }, ` ${item.summary}`))));
}

function receipt(answer) {
  const { limit, spent, steps, stop_reason: stop } = answer.budget;
  const heads = ["", t("spent"), t("limit")];
  const rows = Object.keys(limit).map((name) => line(heads, el("th", { scope: "row" }, said(name)),
    el("td", {}, String(spent[name] ?? "–")), el("td", {}, String(limit[name]))));
  return el("details", { class: "panel", open: last.mode === "agentic" },
    el("summary", {}, `${t("plan")} · ${t("receipt")}`), planPicture(steps),
    grid(heads, el("tbody", {}, ...rows)),
    el("p", { class: "soft" }, `${said(stop)} · ${t("run")} ${answer.run_id}`));
}
