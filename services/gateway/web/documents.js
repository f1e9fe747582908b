// Documents: sending them with live progress, and looking into one.

import { follow, get, picture, post, raw, remove, upload } from "./api.js";
import { el, grid, notice, picker, show, tableOf, when } from "./dom.js";
import { problem, said } from "./said.js";
import { t } from "./words.js";

const PAGE = 50;

export async function documents() {
  const rows = el("tbody", {});
  const more = el("button", { type: "button", hidden: true }, t("more"));
  const progress = el("div", { "aria-live": "polite" });
  const empty = el("p", { hidden: true }, t("noDocuments"));
  let cursor = null;
  const load = async (fresh) => {
    if (fresh) { cursor = null; rows.replaceChildren(); }
    const page = await get(`documents?limit=${PAGE}${cursor ? `&cursor=${cursor}` : ""}`);
    rows.append(...page.items.map(rowOf));
    cursor = page.next_cursor;
    more.hidden = !cursor;
    empty.hidden = rows.childElementCount > 0;
  };
  more.addEventListener("click", () => load(false));
  const send = async (files) => {
    await Promise.all([...files].map((file) => sendOne(file, progress)));
    await load(true);
  };
  show(el("section", { class: "panel" }, dropZone(send), progress),
    el("section", { class: "panel" }, el("h2", {}, t("documents")),
      grid(["name", "state", "chunks", "pages", "revision", "changed"].map(t), rows), empty, more));
  await load(true);
}

function rowOf(document_) {
  const dense = document_.active_revision && document_.dense_coverage < 1 ? ` · ${Math.round(100 * document_.dense_coverage)} %` : "";
  return el("tr", {},
    el("td", { class: "long" }, el("a", { href: `#/document/${encodeURIComponent(document_.document_id)}`, dir: "auto" }, document_.file_name)),
    el("td", {}, `${said(document_.state)}${dense}`), el("td", {}, String(document_.counts.chunks ?? "–")),
    el("td", {}, String(document_.counts.pages || "–")), el("td", {}, String(document_.active_revision ?? "–")),
    el("td", {}, when(document_.updated_at)));
}

function dropZone(send) {
  const { label, input } = picker({ multiple: true, id: "files" }, (files) => {
    send([...files]);
    input.value = "";
    label.firstChild.textContent = t("choose");
  });
  const zone = el("div", { class: "drop",
    ondragover: (event) => { event.preventDefault(); zone.classList.add("over"); },
    ondragleave: () => zone.classList.remove("over"),
    ondrop: (event) => { event.preventDefault(); zone.classList.remove("over"); send(event.dataTransfer.files); },
  }, el("p", {}, t("drop")), label);
  return zone;
}

async function sendOne(file, place) {
  const bar = el("progress", { max: 1, value: 0, "aria-label": file.name });
  const told = el("span", { class: "soft" });
  place.append(el("p", { class: "row" }, el("strong", {}, file.name), bar, told));
  try {
    const accepted = await upload(file, (sent, total) => { bar.value = 0.3 * (sent / total); });
    const job = await follow(accepted.job_id, (state) => {
      const { done, total } = state.progress || {};
      if (total) bar.value = 0.3 + 0.7 * (done / total);
      told.textContent = `${said(state.stage)} · ${said(state.state)}`;
    });
    bar.value = 1;
    told.textContent = job.error ? problem(job.error.code, job.error.detail) : said(job.state);
    told.className = job.state === "published" ? "good" : "bad";
  } catch (error) {
    told.textContent = error.message;
    told.className = "bad";
  }
}

export async function documentView(id) {
  const base = `documents/${encodeURIComponent(id)}`;
  const about = await get(base);
  const pane = el("div", { role: "tabpanel", tabindex: "0" });
  const views = { outline, chunks, images, diagnostics, revisions };
  const tabs = Object.keys(views).map((name) => el("button", { type: "button", role: "tab",
    "aria-selected": "false", onclick: () => open(name) }, t(name)));
  const open = async (name) => {
    tabs.forEach((tab, index) => {
      const own = Object.keys(views)[index] === name;
      tab.setAttribute("aria-selected", String(own));
      tab.tabIndex = own ? 0 : -1;
    });
    try { pane.replaceChildren(await views[name](base, about)); } catch (error) { notice(error.message, true); }
  };
  const list = el("div", { role: "tablist", onkeydown: (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
  } }, ...tabs);
  show(el("p", {}, el("a", { href: "#/documents" }, `← ${t("back")}`)),
    el("section", { class: "panel" }, el("h2", { dir: "auto" }, about.file_name),
      el("p", { class: "soft" }, `${about.document_id} · ${said(about.state)} · ${t("revision")} ${about.active_revision ?? "–"} · ` +
        Object.entries(about.inferred).map(([name, value]) => `${name}: ${value}`).join(" · ")),
      el("button", { type: "button", onclick: async () => {
        if (!confirm(t("removeAsk"))) return;
        await remove(base);
        location.hash = "#/documents";
      } }, t("remove"))),
    el("section", { class: "panel" }, list, pane));
  await open("outline");
}

async function outline(base) {
  const nav = await get(`${base}/outline`);
  const branch = (section) => el("li", {}, el("strong", {}, section.title), " ",
    el("span", { class: "badge" }, `${t("level")} ${section.level}`), " ",
    section.evidence ? el("span", { class: "badge" }, `${t("headingWhy")}: ${section.evidence}`) : "",
    section.page_numbers.length ? el("span", { class: "soft" }, ` ${t("page")} ${section.page_numbers[0]}`) : "",
    el("span", { class: "soft" }, ` · ${section.total_chunk_count} ${t("chunks").toLowerCase()}`),
    section.children.length ? el("ul", {}, ...section.children.map(branch)) : "");
  if (!nav.root.children.length) return el("p", {}, t("none"));
  return el("ul", { class: "tree" }, ...nav.root.children.map(branch));
}

async function chunks(base) {
  const place = el("div", {});
  const more = el("button", { type: "button" }, t("more"));
  let after = -1;
  const load = async () => {
    const view = await get(`${base}/sections?depth=0&chunks=20&after=${after}`);
    place.append(...view.chunks.map(chunkOf));
    after = view.next_after;
    more.hidden = after === null;
  };
  more.addEventListener("click", load);
  await load();
  return el("div", {}, place, more);
}

function chunkOf(chunk) {
  const { metadata } = chunk;
  return el("article", { class: "panel" }, el("p", { class: "soft" },
    `${said(chunk.type)} · ${chunk.path.join(" › ")} · ${metadata.tokens} tokens` +
    (metadata.page_numbers.length ? ` · ${t("page")} ${metadata.page_numbers.join(", ")}` : "")),
  metadata.html ? tableOf(metadata.html) : el("p", { class: "text" }, chunk.content));
}

async function images(base) {
  const manifest = await get(`${base}/outline`);
  const found = [];
  const walk = (section) => {
    found.push(...section.resources.filter((one) => one.type === "image" && one.file_path));
    section.children.forEach(walk);
  };
  walk(manifest.root);
  if (!found.length) return el("p", {}, t("none"));
  const place = el("div", { class: "row" });
  for (const one of found.slice(0, 60)) {
    try {
      const source = await picture(`${base}/assets/${one.file_path.replace(/^assets\//, "")}`);
      place.append(el("figure", {}, el("img", { src: source, class: "page", alt: one.title, width: 280 }),
        el("figcaption", { class: "soft" }, one.title)));
    } catch (error) { place.append(el("p", { class: "soft" }, error.message)); }
  }
  return place;
}

async function diagnostics(base) {
  const { engine, findings } = await get(`${base}/diagnostics`);
  return el("div", {}, el("p", {}, engine), findings.length ? el("ul", {}, ...findings.map((finding) => el("li", {},
    `${said(finding.severity)} ${finding.code}: ${finding.detail}${finding.count > 1 ? ` × ${finding.count}` : ""}` +
    (finding.page ? ` (${t("page")} ${finding.page})` : "")))) : el("p", {}, t("none")));
}

async function revisions(base, about) {
  const { items } = await get(`${base}/revisions?limit=100`);
  const changes = el("div", {});
  const rows = items.map((one) => el("tr", {}, el("td", {}, String(one.revision)),
    el("td", {}, one.active ? t("active") : said(one.state)), el("td", {}, String(one.counts.chunks ?? "–")),
    el("td", {}, when(one.published_at)), el("td", {}, el("div", { class: "row" },
      one.active || one.state !== "published" ? "" : el("button", { type: "button", onclick: async () => {
        await post(`${base}/revisions/${one.revision}/activate`);
        await documentView(about.document_id);
      } }, t("activate")),
      one.active || one.state !== "published" ? "" : el("button", { type: "button", onclick: async () => {
        changes.replaceChildren(await difference(base, one.revision, about.active_revision));
      } }, t("compare"))))));
  return el("div", {}, grid([...["revision", "state", "chunks", "changed"].map(t), ""], el("tbody", {}, ...rows)), changes);
}

/** Chunks that only one of two revisions holds; equal content has equal ids. */
async function difference(base, before, after) {
  const read = async (revision) => (await (await raw(`${base}/chunks?revision=${revision}`)).json()).chunks;
  const [old, now] = await Promise.all([read(before), read(after)]);
  const ids = (list) => new Set(list.map((chunk) => chunk.chunk_id));
  const [oldIds, nowIds] = [ids(old), ids(now)];
  const gone = old.filter((chunk) => !nowIds.has(chunk.chunk_id));
  const come = now.filter((chunk) => !oldIds.has(chunk.chunk_id));
  if (!gone.length && !come.length) return el("p", {}, t("same"));
  return el("div", {}, ...gone.map((chunk) => el("p", { class: "text bad" }, `− ${chunk.content}`)),
    ...come.map((chunk) => el("p", { class: "text good" }, `+ ${chunk.content}`)));
}
