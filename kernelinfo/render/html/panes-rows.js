/* Lines of the two panes: source lines and instructions with their live registers. */
"use strict";

/* Brackets of the loops around a place of a list, outermost first. */
function brackets(loops, depth, place) {
  const around = Array.from({ length: depth }, () => null);
  for (const loop of loops)
    if (loop.depth <= depth && loop.first <= place && place <= loop.last)
      around[loop.depth - 1] = loop;
  return html("span", { class: "brackets", "aria-hidden": "true" }, around.map((loop) => {
    const ends = loop && [loop.first === place && "first", loop.last === place && "last"];
    return html("i", { class: loop ? ["loop", ...ends].filter(Boolean).join(" ") : null,
      title: loop?.label ? `loop ${loop.label}` : null });
  }));
}

/* Live vector registers as a number on a bar; a tick marks the next step of the occupancy. */
function liveBar(model, item) {
  const kinds = ["bar", isAbove(model, item) && "above"].filter(Boolean).join(" ");
  return html("span", { class: kinds, style: `--share:${item.vector / model.most}` },
    String(item.vector));
}

/* A text with the sought part marked. */
function withMark(text, sought) {
  const at = sought ? text.toLowerCase().indexOf(sought) : -1;
  if (at < 0) return text;
  const end = at + sought.length;
  return [text.slice(0, at), html("mark", {}, text.slice(at, end)), text.slice(end)];
}

function codeLine(model, item, sought) {
  const gutter = brackets(model.codeLoops, model.depth, item.place);
  if (item.label !== undefined) return labelLine(model, item, gutter, sought);
  const spill = item.spills ? " spill" : "";
  return html("div", { class: `line${spill}`, role: "option", id: `code-${item.number}` },
    gutter, liveBar(model, item), html("span", { class: "where" }, item.where),
    html("span", { class: `text ${item.kind}`, title: item.text },
      withMark(shortened(item.text), sought)));
}

function labelLine(model, { label, next }, gutter, sought) {
  const loop = model.data.loops.find(([name, , header]) => name === label && header === next.number);
  const about = loop ? `loop of ${plural(loopSize(loop), "instruction")}` : "";
  return html("div", { class: "line label" }, gutter,
    html("span", { class: "text" }, withMark(`${label}:`, sought)),
    html("span", { class: "counts" }, about));
}

const loopSize = ([, , , ranges]) =>
  ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);

function sourceRow(model, item, sought) {
  if (item.heading !== undefined) return fileLine(model.files[item.heading]);
  const kinds = ["line", item.spills && "spill", !item.code.length && "idle"];
  const text = item.text ?? "";
  return html("div", { class: kinds.filter(Boolean).join(" "), role: "option",
    id: `source-${item.place}` },
    brackets(model.sourceLoops, model.depth, item.place),
    item.code.length ? liveBar(model, item) : html("span", { class: "bar none" }),
    html("span", { class: "where" }, String(item.line)),
    html("span", { class: "text", title: text.trim() }, withMark(shortened(text), sought)),
    item.code.length ? html("span", { class: "counts", title: countsInWords(model, item) },
      countsOfLine(model, item)) : null);
}

const fileLine = ({ path, name, reason }) =>
  html("div", { class: "line file", title: path }, html("b", {}, name),
    reason ? html("span", { class: "reason", title: reason }, ` no text: ${reason}`) : null);

/* Short names of the classes that lines count. */
const SHORT_CLASS = { vector: "vec", matrix: "mat", scalar: "sc", scalar_load: "s.ld", lds: "lds",
  load: "ld", store: "st", atomic: "at", scratch: "scr", branch: "br", wait: "wait", barrier: "bar",
  copy: "cp", other: "oth" };

/* Classes of a line's instructions with their numbers. */
const countsOfLine = ({ data: { classes } }, { counts }) =>
  classes.filter((name) => counts[name]).map((name) =>
    html("span", { class: name }, html("b", {}, String(counts[name])), SHORT_CLASS[name]));

function countsInWords({ data: { classes } }, { counts, code, spills }) {
  const parts = classes.filter((name) => counts[name])
    .map((name) => `${counts[name]} ${name.replace("_", " ")}`);
  const spilled = spills ? `, ${plural(spills, "spill instruction")}` : "";
  return `${plural(code.length, "instruction")}: ${parts.join(", ")}${spilled}`;
}
