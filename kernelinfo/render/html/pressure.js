/* Live registers along one kernel's code. kernelinfo/render/pressure/html.py writes the data. */
"use strict";

/* A narrow window gets a narrow drawing, so that its letters stay readable. */
const PRESSURE_WIDTH = Math.max(340, Math.min(1180, innerWidth - 32));
const PRESSURE_HEIGHT = 320;
const BAND = 13;
/* Room on the right for labels of the steps, and their line height. */
const STEPS = { beside: 72, line: 12 };

const POINT = ["number", "where", "source", "vgprs", "agprs", "sgprs", "text", "spills"];

/* The chart, the point under the pointer, and the values of the clicked point. If they are shown
   elsewhere, `marked` is called with the number of the clicked instruction. */
function pressureSection(data, marked = null) {
  const points = data.points.map((row, nth) => ({
    ...Object.fromEntries(POINT.map((name, index) => [name, row[index]])), needs: data.needs[nth],
  }));
  if (!points.length) return html("section", {}, html("p", {}, "no instructions"));
  const reading = html("p", { class: "reading" }, sayPoint(data, points[data.peak]));
  const values = html("div", { class: "live" });
  let chosen = data.peak;
  const { chart, frame, cursor } = pressureChart(data, points);
  const choose = (index) => {
    chosen = Math.min(Math.max(index, 0), points.length - 1);
    cursor.setAttribute("x1", frame.x(chosen));
    cursor.setAttribute("x2", frame.x(chosen));
    reading.textContent = sayPoint(data, points[chosen]);
    if (!marked) values.replaceChildren(valuesAt(data, points, chosen));
  };
  const pointed = (event) => {
    const box = chart.getBoundingClientRect();
    const across = ((event.clientX - box.left) / box.width) * PRESSURE_WIDTH;
    const share = (across - frame.left) / (frame.right - frame.left);
    return Math.round(Math.min(Math.max(share, 0), 1) * (points.length - 1));
  };
  chart.addEventListener("pointermove", (event) => {
    reading.textContent = sayPoint(data, points[pointed(event)]);
  });
  chart.addEventListener("pointerleave", () => {
    reading.textContent = sayPoint(data, points[chosen]);
  });
  chart.addEventListener("click", (event) => {
    choose(pointed(event));
    marked?.(points[chosen].number);
  });
  chart.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: -1, ArrowRight: 1, PageUp: -50, PageDown: 50 }[event.key];
    if (!way) return;
    event.preventDefault();
    choose(chosen + way);
  });
  choose(data.peak);
  return html("section", { class: "pressure" },
    html("h2", {}, "Live registers"),
    data.sentences.map((sentence) => html("p", {}, sentence)),
    html("figure", {}, chart, reading), pressureKeys(data), billOf(data.bill), values);
}

/* Who holds the registers at the peak: the live values by role, whose numbers add up. */
function billOf(bill) {
  if (!bill.length) return "";
  const rows = bill.flatMap(([held, values]) => values.map((cells, nth) => ({
    cells: [nth ? "" : held, ...cells.map(String)],
  })));
  const isShown = (_, column) => column !== 3 || rows.some(({ cells }) => cells[3]);
  const headings = ["held by", "registers", "count", "variable", "written", "next read",
    "untouched for"];
  const shown = rows.map(({ cells }) => ({ cells: cells.filter(isShown) }));
  return html("details", { open: true },
    html("summary", {}, `who holds the registers at the peak: ${plural(rows.length, "group")}`),
    tableOf("Who holds the registers at the peak", headings.filter(isShown), shown, "  n    "));
}

const vectorOf = (data, { vgprs, agprs }) => (data.shared ? vgprs + agprs : Math.max(vgprs, agprs));

function sayPoint(data, point) {
  const source = data.sources[point.source];
  const location = source ? `${source} (${point.where})` : point.where;
  const agprs = point.agprs ? ` and ${point.agprs} AGPRs` : "";
  const needs = point.needs === undefined ? "" : `, ${point.needs} vector registers needed`;
  const spills = point.spills ? ` · ${plural(point.spills, "spill instruction")}` : "";
  return `${location}: ${point.vgprs} VGPRs${agprs}, ${point.sgprs} SGPRs live${needs} · ${point.text}${spills}`;
}

function pressureChart(data, points) {
  const last = Math.max(points.length - 1, 1);
  const highest = Math.max(...points.map((point) => vectorOf(data, point)), ...data.needs, 1);
  const shown = data.steps.filter(([most]) => most <= highest);
  const above = data.steps.find(([most]) => most > highest);
  const yMost = above && above[0] < 1.6 * highest ? above[0] * 1.04 : highest * 1.1;
  if (above && above[0] <= yMost) shown.push(above);
  const depth = Math.max(0, ...data.loops.map(([, at]) => at));
  const ticks = roundTicks(points.length, Math.min(10, PRESSURE_WIDTH / 110)).filter((index) => index <= last);
  const frame = frameOf({
    width: PRESSURE_WIDTH, height: PRESSURE_HEIGHT, xMost: last, yMost,
    xTicks: ticks.map((index) => [index, points[index].where]),
    yTicks: roundTicks(highest, 6).map((value) => [value, String(value)]),
    xTitle: "along the code", yTitle: "live registers", beside: STEPS.beside,
  });
  const areas = data.shared ? ["agprs", "vgprs"] : ["vgprs", "agprs"];
  const heightOf = (name) => (point) =>
    data.shared && name === "agprs" ? point.vgprs + point.agprs : point[name];
  const cursor = svg("line", { class: "cursor", y1: frame.top, y2: frame.bottom });
  const height = PRESSURE_HEIGHT + depth * BAND + BAND + 8;
  const chart = drawing(PRESSURE_WIDTH, height, sayPoint(data, points[data.peak]),
    data.loops.map((loop) => loopShade(loop, frame)),
    frame.axes,
    areas.map((name) => registerArea(name, points, heightOf(name), frame)),
    needsLine(data.needs, frame),
    wavesSteps(shown, frame),
    points.map((point, index) => (point.spills ? spillTick(index, frame) : null)),
    svg("circle", { class: "dot", r: 4, cx: frame.x(data.peak),
      cy: frame.y(vectorOf(data, points[data.peak])) }),
    data.loops.map((loop) => loopBand(loop, frame)),
    sourceBand(data, points, frame, PRESSURE_HEIGHT + depth * BAND + 4),
    cursor);
  chart.setAttribute("tabindex", "0");
  return { chart, frame, cursor };
}

function registerArea(name, points, height, frame) {
  if (!points.some((point) => point[name])) return null;
  const tops = points.map((point, index) => `${frame.x(index)},${frame.y(height(point))}`);
  return svg("path", { class: `registers ${name}`,
    d: `M${frame.x(0)},${frame.bottom}L${tops.join("L")}V${frame.bottom}Z` });
}

/* What the code needs, spill slots included, above the live registers. */
function needsLine(needs, frame) {
  if (!needs.length) return null;
  const tops = needs.map((number, index) => `${frame.x(index)},${frame.y(number)}`);
  return svg("path", { class: "needs", d: `M${tops.join("L")}` },
    svg("title", {}, "registers that the code needs, spill slots included"));
}

/* Lines at the steps of the occupancy, named on their right: `≤ 96: 5`. */
function wavesSteps(steps, frame) {
  const falling = [...steps].sort(([one], [other]) => other - one);
  const levels = falling.map(([most]) => frame.y(most));
  const labels = apart(levels, STEPS.line, frame.bottom);
  const [from, to] = [frame.right + 3, frame.right + 12];
  return [
    falling.length ? textAt(PRESSURE_WIDTH - 2, 10.5, "waves/SIMD", { class: "axis end" }) : null,
    falling.map(([most, waves], nth) => svg("g", { class: "waves-step" },
      svg("title", {}, `≤ ${most} registers: ${wavesPerSimd(waves)}`),
      svg("line", { x1: frame.left, x2: frame.right, y1: levels[nth], y2: levels[nth] }),
      svg("line", { x1: from, x2: to, y1: levels[nth], y2: labels[nth], class: "lead" }),
      textAt(to + 3, labels[nth] + 3.5, `≤ ${most}: ${number(waves)}`, { class: "tick" }))),
  ];
}

const spillTick = (index, frame) =>
  svg("line", { class: "spill", x1: frame.x(index), x2: frame.x(index), y1: frame.top - 2,
    y2: frame.top + 6 });

/* Where the ranges of a loop lie across the chart. */
const across = ([, , ranges], frame) => ranges.map(([first, last]) => {
  const x = frame.x(first);
  return { x, width: Math.max(frame.x(last) - x, 2) };
});

const loopShade = (loop, frame) => across(loop, frame).map((place) =>
  svg("rect", { class: "loop-shade", ...place, y: frame.top, height: frame.bottom - frame.top }));

/* A band for each range of a loop; the widest has its label, if it has room. */
function loopBand(loop, frame) {
  const [label, depth] = loop;
  const places = across(loop, frame);
  const widest = places.reduce((one, other) => (other.width > one.width ? other : one));
  const y = PRESSURE_HEIGHT + (depth - 1) * BAND;
  return svg("g", {},
    svg("title", {}, `loop ${label}, depth ${depth}`),
    places.map((place) =>
      svg("rect", { class: `loop depth${depth % 2}`, ...place, y, height: BAND - 2, rx: 2 })),
    widest.width > 9 * label.length
      ? textAt(widest.x + 4, y + 9, label, { class: "tick inside" }) : null);
}

/* A stripe for each source line of the code, named if it has room. */
function sourceBand(data, points, frame, y) {
  if (data.sources.length < 2 && !data.sources[0]) return null;
  const runs = [];
  points.forEach((point, index) => {
    const run = runs.at(-1);
    if (run && run.source === point.source) run.last = index;
    else runs.push({ source: point.source, first: index, last: index });
  });
  return runs.map(({ source, first, last }, position) => {
    const name = data.sources[source].replace(/^.*:/, ":");
    const x = frame.x(first);
    const width = frame.x(Math.min(last + 1, points.length - 1)) - x;
    return svg("g", {},
      svg("title", {}, data.sources[source]),
      svg("rect", { class: `source${position % 2}`, x, width, y, height: BAND - 2 }),
      width > 7 * name.length ? textAt(x + 2, y + 9, name, { class: "tick" }) : null);
  });
}

function pressureKeys(data) {
  const agprs = data.points.some((row) => row[4]);
  const spills = data.points.some((row) => row[7]);
  const parts = ["VGPRs", agprs && "AGPRs, lighter", data.loops.length && "loops shaded, bands below",
    data.needs.length && "solid line: needs, spill slots included",
    spills && "ticks above: spills", "lines across: steps of the occupancy",
    "click or arrow keys: the values there"];
  return html("p", { class: "keys" }, parts.filter(Boolean).join(" · "));
}

/* Registers live at a point, longest span first. */
function valuesAt(data, points, index) {
  const location = (at) => {
    const source = data.sources[points[at].source];
    return source ? `${source} (${points[at].where})` : points[at].where;
  };
  const table = liveTable(data, index, location,
    (first, last) => points[last].number - points[first].number + 1);
  const groups = plural(table.querySelectorAll("tbody tr").length, "group");
  return html("details", { open: true },
    html("summary", {}, `live at ${location(index)}: ${groups} of registers`), table);
}

/* Spans of registers around a point: ends by `location`, instructions by `length`. */
function liveTable({ spans, variables }, index, location, length) {
  const isScalar = ([, , registers]) => !/^[va]/.test(registers);
  const live = spans.filter(([first, last]) => first <= index && index <= last)
    .sort((one, other) => isScalar(one) - isScalar(other)
      || (other[1] - other[0]) - (one[1] - one[0]));
  const names = new Map(variables.filter(([, first, last]) => first <= index && index <= last)
    .flatMap(([name, , , registers]) => eachRegister(registers).map((one) => [one, name])));
  const rows = live.map(([first, last, registers]) => ({
    cells: [registers, ...(names.size ? [namesOf(registers, names)] : []),
      location(first), location(last), String(length(first, last))],
  }));
  const headings = ["registers", ...(names.size ? ["variable"] : []), "live from", "to",
    "instructions"];
  return tableOf("Registers that are live there", headings, rows, names.size ? "    n" : "   n");
}

/* `v[1:2] a0` as v1, v2, a0. */
function eachRegister(text) {
  return text.split(" ").flatMap((part) => {
    const [, letter, first, last = first] = part.match(/^([a-z])\[?(\d+)(?::(\d+))?/);
    return Array.from({ length: last - first + 1 }, (_, nth) => `${letter}${+first + nth}`);
  });
}

/* The variables that registers hold; with their registers if they are not all of them. */
function namesOf(registers, names) {
  const every = eachRegister(registers);
  const held = new Map();
  for (const one of every.filter((register) => names.has(register))) {
    held.set(names.get(one), [...(held.get(names.get(one)) ?? []), one]);
  }
  return [...held].map(([name, which]) =>
    (which.length === every.length ? name : `${name} ${which.join(" ")}`)).join(", ");
}
