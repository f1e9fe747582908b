// The plan of a search as a picture: its steps in columns, each after those that it waited for.
import { said } from "./said.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 150, HEIGHT = 62, ACROSS = 34, DOWN = 14;

const make = (tag, attributes, text) => {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text) node.textContent = text;
  return node;
};

/** Calls of one step become one box; the last, which renders, waits for all that nobody waits for. */
function boxesOf(steps) {
  const boxes = new Map();
  for (const step of steps) {
    const id = step.step_id || step.kind;
    const box = boxes.get(id) || { id, kinds: [], after: [], time: 0, tokens: 0, skipped: false };
    if (step.kind && !box.kinds.includes(step.kind)) box.kinds.push(step.kind);
    box.after = step.after || box.after;
    box.time += step.milliseconds ?? step.total_ms ?? 0;
    box.tokens += step.tokens || 0;
    box.skipped ||= Boolean(step.skipped);
    boxes.set(id, box);
  }
  const all = [...boxes.values()];
  const render = all.find((box) => box.kinds.includes("render"));
  if (render) {
    const waited = new Set(all.flatMap((box) => box.after));
    render.after = all.filter((box) => box !== render && !waited.has(box.id)).map((box) => box.id);
  }
  const columns = [], known = new Map();
  const column = (box) => {
    if (known.has(box.id)) return known.get(box.id);
    known.set(box.id, 0);
    const before = box.after.filter((id) => boxes.has(id)).map((id) => column(boxes.get(id)));
    known.set(box.id, before.length ? 1 + Math.max(...before) : 0);
    return known.get(box.id);
  };
  for (const box of all) (columns[column(box)] ||= []).push(box);
  return { boxes, columns };
}

/** An SVG of the receipt's steps; arrows lead from a step to those that waited for it. */
export function planPicture(steps) {
  const { boxes, columns } = boxesOf(steps);
  const rows = Math.max(1, ...columns.map((boxesThere) => boxesThere.length));
  const width = Math.max(columns.length, 1) * (WIDTH + ACROSS), height = rows * (HEIGHT + DOWN);
  const svg = make("svg", { class: "plan", viewBox: `0 0 ${width} ${height}`, width, height,
    role: "img", "aria-label": columns.map((there) => there.map((box) => box.id).join(" + ")).join(" → ") });
  columns.forEach((there, column) => there.forEach((box, row) => {
    box.x = column * (WIDTH + ACROSS) + 2;
    box.y = (row + (rows - there.length) / 2) * (HEIGHT + DOWN) + 4;
  }));
  for (const box of boxes.values()) {
    for (const before of box.after.filter((id) => boxes.has(id)).map((id) => boxes.get(id))) {
      const [x, y, right, level] = [before.x + WIDTH, before.y + HEIGHT / 2, box.x, box.y + HEIGHT / 2];
      svg.append(make("path", { d: `M ${x} ${y} C ${x + 18} ${y} ${right - 18} ${level} ${right} ${level}` }));
    }
    const figures = [box.time ? `${Math.round(box.time)} ms` : "", box.tokens ? `${box.tokens} ${said("tokens")}` : "",
      box.skipped ? "✕" : ""];
    svg.append(
      make("rect", { x: box.x, y: box.y, width: WIDTH, height: HEIGHT, rx: 8 }),
      make("text", { x: box.x + 10, y: box.y + 20 }, said(box.id).slice(0, 20)),
      make("text", { x: box.x + 10, y: box.y + 36 }, box.kinds.filter((kind) => kind !== box.id).map(said).join(", ").slice(0, 22)),
      make("text", { x: box.x + 10, y: box.y + 53 }, figures.filter(Boolean).join(" · ")));
  }
  return svg;
}
