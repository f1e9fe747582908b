// Calls of the HTTP interface with the key of this tab.

import { problem } from "./said.js";

const STORED = "groundwire.key";

export class Refused extends Error {}

export const key = () => sessionStorage.getItem(STORED);
export const forget = () => sessionStorage.removeItem(STORED);
export const remember = (value) => sessionStorage.setItem(STORED, value.trim());

let space = "default";
export const namespace = () => space;
export const useNamespace = (value) => { space = value; };

export async function raw(path, options = {}) {
  const headers = { Authorization: `Bearer ${key()}`, ...(options.headers || {}) };
  let answer;
  try {
    answer = await fetch(path.startsWith("/") ? path : `/v1/namespaces/${space}/${path}`,
      { ...options, headers, cache: "no-store" });
  } catch (away) {
    throw new Error(problem("away"), { cause: away });
  }
  if (answer.ok) return answer;
  let detail = `${answer.status}`;
  try {
    const told = await answer.json();
    detail = problem(told.code, told.detail || told.title);
  } catch { /* the status says enough */ }
  const error = new Refused(detail);
  error.status = answer.status;
  throw error;
}

export const get = async (path) => (await raw(path)).json();

export async function post(path, body) {
  const answer = await raw(path, {
    method: "POST",
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return answer.status === 204 ? null : answer.json();
}

/** Whose a key is that is not the tab's own. */
export const whose = async (secret) =>
  (await raw("/v1/self", { headers: { Authorization: `Bearer ${secret.trim()}` } })).json();

export const remove = (path) => raw(path, { method: "DELETE" });

/** An image that needs the key, as an address for <img>. */
export async function picture(path) {
  return URL.createObjectURL(await (await raw(path)).blob());
}

/** Send a document; `onBytes(sent, total)` hears how far it is. */
export const upload = (file, onBytes) => sendTo("documents", file, onBytes);

/** Send a file to a path of the namespace, with the options of an upload where there are some. */
export function sendTo(path, file, onBytes, options) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/v1/namespaces/${space}/${path}`);
    request.setRequestHeader("Authorization", `Bearer ${key()}`);
    request.setRequestHeader("Idempotency-Key", crypto.randomUUID());
    request.upload.onprogress = (event) => onBytes(event.loaded, event.total);
    request.onerror = () => reject(new Refused(problem("away")));
    request.onload = () => {
      let body = {};
      try { body = JSON.parse(request.responseText); } catch { /* told below */ }
      if (request.status < 300) resolve(body);
      else reject(new Refused(problem(body.code || request.status, body.detail)));
    };
    const form = new FormData();
    if (options) form.append("options", JSON.stringify(options));
    form.append("file", file, file.name);
    request.send(form);
  });
}

const ENDED = new Set(["published", "failed", "cancelled", "superseded"]);

/** The job's events until it ends; a broken stream is taken up where it broke. */
export async function follow(jobId, onState) {
  let last = null;
  for (let tries = 0; tries < 30; tries += 1) {
    try {
      const headers = last === null ? {} : { "Last-Event-ID": last };
      const answer = await raw(`jobs/${jobId}/events`, { headers });
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        rest += value;
        const blocks = rest.split("\n\n");
        rest = blocks.pop();
        for (const block of blocks) {
          for (const line of block.split("\n")) {
            if (line.startsWith("id: ")) last = line.slice(4);
            if (line.startsWith("data: ")) onState(JSON.parse(line.slice(6)));
          }
        }
      }
    } catch (error) {
      if (error instanceof Refused && error.status < 500) throw error;
    }
    const job = await get(`jobs/${jobId}`);
    onState(job);
    if (ENDED.has(job.state)) return job;
  }
  return get(`jobs/${jobId}`);
}
