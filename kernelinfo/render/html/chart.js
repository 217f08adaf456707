/* Parts of every chart: a frame with axes, a staircase, marks of the limiters, hatching. */
"use strict";

/* Limiters differ in shape and in colour, so that either is enough. */
const MARKS = {
  slots: (x, y, r) => `M${x - r},${y}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0z`,
  vgpr: (x, y, r) => `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
  sgpr: (x, y, r) => `M${x},${y - 1.2 * r}l${1.2 * r},${2.1 * r}h${-2.4 * r}z`,
  lds: (x, y, r) => `M${x},${y - 1.3 * r}l${1.3 * r},${1.3 * r}l${-1.3 * r},${1.3 * r}` +
    `l${-1.3 * r},${-1.3 * r}z`,
  barriers: (x, y, r) => `M${x - r},${y - 0.4 * r}h${2 * r}v${0.8 * r}h${-2 * r}z`,
  scratch: (x, y, r) => `M${x},${y + 1.2 * r}l${1.2 * r},${-2.1 * r}h${-2.4 * r}z`,
};

/* The limiter that a mark shows: slots only if nothing else limits. */
const chiefLimiter = (limiters) =>
  limiters.find((name) => name !== "slots" && name !== "scratch") || limiters[0] || "slots";

const markOf = (limiter, x, y, r) =>
  svg("path", { d: MARKS[limiter](x, y, r), class: `mark ${limiter}` });

const keyOf = (limiter, text) =>
  html("span", { class: "key" },
    svg("svg", { viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" },
      markOf(limiter, 6, 6, 4)),
    text);

/* Pixels of one of the columns of charts (style.css): a drawing of that width keeps its letters'
   size. */
function columnWidth() {
  const page = Math.min(innerWidth, 1440) - (innerWidth > 760 ? 56 : 32);
  return Math.max(320, innerWidth > 1000 ? (page - 40) / 2 : page);
}

const textAt = (x, y, content, attributes = {}) => svg("text", { x, y, ...attributes }, content);

/* Diagonal lines for allocated but unused registers. */
const hatching = (id) =>
  svg("defs", {},
    svg("pattern", { id, width: 5, height: 5, patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)" },
      svg("rect", { width: 5, height: 5, class: "hatch-ground" }),
      svg("line", { x1: 0, y1: 0, x2: 0, y2: 5, class: "hatch-line" })));

/* Round numbers from 0 to `most`, about `count` of them. */
function roundTicks(most, count) {
  const rough = most / count || 1;
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 4, 5, 10].map((base) => base * decade).find((one) => one >= rough);
  const whole = Math.max(1, Math.round(step));
  return Array.from({ length: Math.floor(most / whole) + 1 }, (_, index) => index * whole);
}

/* Powers of two upwards from a share of `most` that leaves room for labels. */
function binaryTicks(most, count) {
  const step = 2 ** Math.ceil(Math.log2(most / count));
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
}

/* Axes; `x` and `y` take values to coordinates. Ticks are [value, label]. `above` and `beside` are
   room for labels over the plot and on its right. */
function frameOf({ width, height, xMost, yMost, xTicks, yTicks, xTitle, yTitle, above = 18,
  beside = 14 }) {
  const [left, right, top, bottom] = [34, width - beside, above, height - 32];
  const x = (value) => left + (value / xMost) * (right - left);
  const y = (value) => bottom - (value / yMost) * (bottom - top);
  const grid = yTicks.map(([value, label]) => [
    svg("line", { x1: left, x2: right, y1: y(value), y2: y(value), class: "grid" }),
    textAt(left - 6, y(value) + 3.5, label, { class: "tick end" }),
  ]);
  const feet = xTicks.map(([value, label]) =>
    textAt(x(value), bottom + 15, label, { class: "tick middle" }));
  const titles = [
    textAt(right, bottom + 28, xTitle, { class: "axis end" }),
    textAt(2, 10.5, yTitle, { class: "axis" }),
  ];
  return { x, y, left, right, top, bottom, axes: svg("g", {}, grid, feet, titles) };
}

/* `heights`, in rising order, moved apart to `line` at least; none is below `lowest`. */
function apart(heights, line, lowest = Infinity) {
  let [last, next] = [-Infinity, lowest + line];
  return heights.map((height) => (last = Math.max(height, last + line)))
    .reverse().map((height) => (next = Math.min(height, next - line))).reverse();
}

const drawing = (width, height, label, ...children) =>
  svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label,
    class: "chart" }, children);

/* The path of a staircase. Values between two points behave as the upper point. */
function staircase(points, frame, from) {
  const steps = points.map(([at, value]) => `V${frame.y(value)}H${frame.x(at)}`);
  return `M${frame.x(from)},${frame.y(points[0][1])}${steps.join("")}`;
}
