// A link may bring a key (`#key=…`, as `make run` prints it). Whoever made the link chose whose
// namespace it opens: what is searched or uploaded there is theirs to see. So a key out of a link
// is asked about first, and never takes the place of another one unasked.

import { key, remember, whose } from "./api.js";
import { el, notice, show } from "./dom.js";
import { t } from "./words.js";

const THIS_MACHINE = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Take what the address brings out of it; `then` goes on, with the key or without it. */
export async function arrive(given, then) {
  const offered = given.get("key");
  if (!offered) return then();
  history.replaceState(null, "", `/#${given.get("view") || "/search"}`);
  if (offered === key()) return then();
  if (!key() && THIS_MACHINE.has(location.hostname)) {
    remember(offered);
    return then();
  }
  return ask(offered, then);
}

async function ask(offered, then) {
  let owner;
  try {
    owner = await whose(offered);
  } catch (error) {
    await then();
    return notice(`${t("linkBad")} ${error.message}`, true);
  }
  const open = el("button", { type: "button", onclick: () => { remember(offered); then(); } }, t("linkOpen"));
  const stay = el("button", { type: "button", class: "main", onclick: () => then() }, t("linkStay"));
  show(el("section", { class: "panel", id: "offered" }, el("h2", {}, `${t("linkAsk")} ${owner.namespace}`),
    el("p", {}, t("linkWhy")), el("div", { class: "row" }, stay, open)));
  stay.focus();
  return undefined;
}
