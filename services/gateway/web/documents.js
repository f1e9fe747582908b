// Documents: sending them with live progress, and looking into one.

import { follow, get, picture, post, raw, remove, upload } from "./api.js";
import { el, grid, line, notice, picker, several, show, tableOf, when } from "./dom.js";
import { problem, said } from "./said.js";
import { language, t } from "./words.js";

const PAGE = 50;
const HEADS = ["name", "state", "chunks", "pages", "revision", "changed"];
const progress = el("div", { "aria-live": "polite" });

export async function documents() {
  const rows = el("tbody", {});
  const more = el("button", { type: "button", hidden: true }, t("more"));
  const empty = el("p", { hidden: true }, t("noDocuments"));
  let cursor = null;
  const load = async (fresh) => {
    const page = await get(`documents?limit=${PAGE}${cursor && !fresh ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);
    if (fresh) rows.replaceChildren();
    rows.append(...page.items.map(rowOf));
    cursor = page.next_cursor;
    more.hidden = !cursor;
    empty.hidden = rows.childElementCount > 0;
  };
  more.addEventListener("click", () => load(false));
  const send = async (files) => {
    const sending = [...files].map((file) => [file, announced(file)]);
    await several(sending, ([file, shown]) => sendOne(file, shown));
    try { await load(true); } catch (error) { notice(error.message, true); }
  };
  show(el("section", { class: "panel" }, dropZone(send), progress),
    el("section", { class: "panel" }, el("h2", {}, t("documents")),
      grid(HEADS.map(t), rows), empty, more));
  await load(true);
}

function rowOf(document_) {
  const dense = document_.active_revision && document_.dense_coverage < 1 ? ` · ${Math.round(100 * document_.dense_coverage)} %` : "";
  return line(HEADS.map(t),
    el("td", { class: "long" }, el("a", { href: `#/document/${encodeURIComponent(document_.document_id)}`, dir: "auto" }, document_.file_name)),
    el("td", {}, `${said(document_.state)}${dense}`), el("td", {}, String(document_.counts.chunks ?? "–")),
    el("td", {}, String(document_.counts.pages || "–")), el("td", {}, String(document_.active_revision ?? "–")),
    el("td", { class: "nowrap" }, when(document_.updated_at)));
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

/** The line of a file that is to be sent: its name, how far it is, and what became of it. */
function announced(file) {
  const bar = el("progress", { max: 1, value: 0, "aria-label": file.name });
  const told = el("span", { class: "soft" }, said("waiting"));
  const name = el("strong", { dir: "auto" }, file.name);
  progress.append(el("p", { class: "row sent" }, name, bar, told));
  return { bar, told, name };
}

async function sendOne(file, { bar, told, name }) {
  try {
    const accepted = await upload(file, (sent, total) => { bar.value = 0.3 * (sent / total); });
    name.replaceChildren(el("a", { href: `#/document/${encodeURIComponent(accepted.document_id)}` }, file.name));
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
      el("p", { class: "soft" }, [said(about.state), `${t("revision")} ${about.active_revision ?? "–"}`,
        ...Object.entries(about.inferred).map(known), about.document_id].join(" · ")),
      el("button", { type: "button", onclick: async () => {
        if (!confirm(t("removeAsk"))) return;
        try {
          await remove(base);
          location.hash = "#/documents";
        } catch (error) { notice(error.message, true); }
      } }, t("remove"))),
    el("section", { class: "panel" }, list, pane));
  await open("outline");
}

/** A property that was found in the document, in the page's words. */
function known([name, value]) {
  const named = name === "language" ? new Intl.DisplayNames([language()], { type: "language", fallback: "code" }) : null;
  return `${t(`known_${name}`)}: ${named ? named.of(value) : value}`;
}

async function outline(base) {
  const nav = await get(`${base}/outline`);
  const branch = (section) => el("li", {}, el("strong", {}, section.title), " ",
    el("span", { class: "badge" }, `${t("level")} ${section.level}`), " ",
    section.evidence ? el("span", { class: "badge" }, `${t("headingWhy")}: ${t(`by_${section.evidence}`)}`) : "",
    section.page_numbers.length ? el("span", { class: "soft" }, ` ${t("page")} ${section.page_numbers[0]}`) : "",
    el("span", { class: "soft" }, ` · ${section.total_chunk_count} ${t("chunks").toLowerCase()}`),
    section.children.length ? el("ul", {}, ...section.children.map(branch)) : "");
  if (!nav.root.children.length) return el("p", {}, t("noHeadings"));
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
    [said(chunk.type), chunk.path.join(" › "), `${metadata.tokens} ${said("tokens")}`,
      metadata.page_numbers.length ? `${t("page")} ${metadata.page_numbers.join(", ")}` : ""].filter(Boolean).join(" · ")),
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
  return el("div", {}, el("p", { class: "soft" }, `${t("engine")}: ${engine}`), findings.length ? el("ul", {}, ...findings.map((finding) => el("li", {},
    `${said(finding.severity)} ${finding.code}: ${finding.detail}${finding.count > 1 ? ` × ${finding.count}` : ""}` +
    (finding.page ? ` (${t("page")} ${finding.page})` : "")))) : el("p", {}, t("noFindings")));
}

async function revisions(base, about) {
  const { items } = await get(`${base}/revisions?limit=100`);
  const changes = el("div", {});
  const heads = [...["revision", "state", "chunks", "changed"].map(t), ""];
  const trying = (work) => async () => {
    try { await work(); } catch (error) { notice(error.message, true); }
  };
  const rows = items.map((one) => line(heads, el("td", {}, String(one.revision)),
    el("td", {}, one.active ? t("active") : said(one.state)), el("td", {}, String(one.counts.chunks ?? "–")),
    el("td", {}, when(one.published_at)), el("td", {}, el("div", { class: "row" },
      one.active || one.state !== "published" ? "" : el("button", { type: "button", onclick: trying(async () => {
        await post(`${base}/revisions/${one.revision}/activate`);
        await documentView(about.document_id);
      }) }, t("activate")),
      one.active || one.state !== "published" ? "" : el("button", { type: "button", onclick: trying(async () => {
        changes.replaceChildren(await difference(base, one.revision, about.active_revision));
      }) }, t("compare"))))));
  return el("div", {}, grid(heads, el("tbody", {}, ...rows)), changes);
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
