// Search in both modes: evidence beside its page, the receipt, and the plan as a picture.

import { picture, post } from "./api.js";
import { el, grid, notice, show, tableOf } from "./dom.js";
import { planPicture } from "./plan.js";
import { said } from "./said.js";
import { t } from "./words.js";

let last = { query: "", mode: "classic", answer: null };

/** `#/search/<mode>/<query>` is a search that can be linked to. */
export async function search(wantedMode, wanted) {
  const linked = wanted && (wanted !== last.query || wantedMode !== last.mode);
  if (linked) last = { query: wanted, mode: wantedMode === "agentic" ? "agentic" : "classic", answer: null };
  const query = el("input", { type: "search", id: "query", required: true, maxlength: 4096,
    value: last.query, autocomplete: "off" });
  const mode = el("select", { id: "mode" },
    ...["classic", "agentic"].map((name) => el("option", { value: name, selected: name === last.mode }, t(name))));
  const results = el("div", { id: "results" });
  const run = async () => {
    notice("…");
    try {
      const body = { query: last.query, mode: last.mode, top_k: 10, explain: true };
      last.answer = await post("search", body);
      notice("");
      render(results);
    } catch (error) { notice(error.message, true); }
  };
  const form = el("form", { class: "row", role: "search", onsubmit: (event) => {
    event.preventDefault();
    last = { query: query.value, mode: mode.value, answer: null };
    history.replaceState(null, "", `#/search/${last.mode}/${encodeURIComponent(last.query)}`);
    run();
  } }, el("label", { for: "query" }, t("query")), query,
  el("label", { for: "mode" }, t("mode")), mode, el("button", { class: "main" }, t("search")));
  show(el("section", { class: "panel" }, form), results);
  if (last.answer) render(results);
  else if (linked) await run();
  query.focus();
}

function render(place) {
  const answer = last.answer;
  const aside = el("div", { class: "panel stick", "aria-live": "polite" },
    el("p", { class: "soft" }, t("chooseHit")));
  const buttons = answer.evidence.map((piece, index) => el("button", {
    type: "button", class: "hit", "aria-pressed": "false",
    onclick: (event) => choose(event.currentTarget, buttons, piece, aside),
  }, el("strong", {}, `${index + 1}. ${piece.source_file_name}`),
  el("div", { class: "soft" }, place_of(piece)),
  el("p", { class: "text" }, shortened(piece.content))));
  const summary = el("p", { class: "soft" },
    `${said(answer.status)}${answer.status_reason ? ` — ${answer.status_reason}` : ""} · ` +
    `${answer.evidence.length} ${t("pieces")} · ${answer.budget.spent.milliseconds ?? 0} ms · ` +
    `${answer.budget.spent.tokens ?? 0} tokens${answer.cached ? " · cache" : ""}`);
  place.replaceChildren(
    answer.clarification ? el("p", { class: "panel" }, answer.clarification) : "",
    receipt(answer),
    el("div", { class: "split" },
      el("section", { "aria-label": t("evidence") }, el("h2", {}, t("evidence")), summary,
        ...(buttons.length ? buttons : [el("p", {}, t("nothing"))]), unopened(answer)),
      aside));
  if (buttons.length) buttons[0].click();
}

const place_of = (piece) => [piece.section_path.join(" › "),
  piece.page_numbers.length ? `${t("page")} ${piece.page_numbers.join(", ")}` : "",
  piece.score ? piece.score.toFixed(3) : ""].filter(Boolean).join(" · ");

const plain = (text) => text.replace(/\[\[(?:image|table):[^\]]*\]\]/g, "").trim();
const shortened = (text) => (plain(text).length > 400 ? `${plain(text).slice(0, 400)}…` : plain(text));

async function choose(button, buttons, piece, aside) {
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
        await navigator.clipboard.writeText(JSON.stringify(cite));
        verdict.textContent = t("copied");
      } }, t("copy")),
      el("button", { type: "button", onclick: async () => {
        verdict.textContent = said((await post("verify", cite)).status);
      } }, t("verify")),
      el("a", { href: `#/document/${encodeURIComponent(piece.document_id)}` }, t("outline")), verdict),
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
  const rows = Object.keys(limit).map((name) => el("tr", {}, el("th", { scope: "row" }, said(name)),
    el("td", {}, String(spent[name] ?? "–")), el("td", {}, String(limit[name]))));
  return el("details", { class: "panel", open: last.mode === "agentic" },
    el("summary", {}, `${t("plan")} · ${t("receipt")}`), planPicture(steps),
    grid(["", t("spent"), t("limit")], el("tbody", {}, ...rows)),
    el("p", { class: "soft" }, `${stop} · run ${answer.run_id}`));
}
