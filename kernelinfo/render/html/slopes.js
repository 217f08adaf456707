/* Slopes from the waves of kernels in the old build to those in the new build. */
"use strict";

const SLOPES = { width: 720, height: 340, from: 52, line: 12, letter: 6.5 };
/* The end of the slopes. Names follow if they have room. */
const slopesWidth = () => Math.max(320, Math.min(SLOPES.width, innerWidth - 32));
const slopesEnd = () => SLOPES.from + (slopesWidth() - SLOPES.from) / 2;

/* The measure of a slope: waves/SIMD, or percent of the slots if the processor changed. */
const WAVES = { key: "waves_per_simd", title: "Waves/SIMD", show: number, least: 1 };
const SHARE = { key: "percent", title: "Occupancy", show: percent, least: 100 };

const measureOf = (rows) => rows.some(({ old, now }) =>
  old && now && processorOf(old.target) !== processorOf(now.target)) ? SHARE : WAVES;

const slopeKey = ({ old, now }, { key }) =>
  [old, now].map((side) => side && boundOf(side) + side[key]).join(":");

/* `8 → 4`, with ≤ before a bound. */
const slopeMove = ({ old, now }, { key, show }) =>
  [old, now].map((side) => boundOf(side) + show(side[key])).join(" → ");

/* Groups of kernels with equal slopes, steepest descent first. */
function slopes(rows, measure) {
  const found = new Map();
  for (const row of rows) {
    const [before, after] = [row.old, row.now].map((side) => side?.[measure.key] ?? null);
    if (before === null || after === null || before === after) continue;
    const key = slopeKey(row, measure);
    if (found.has(key)) found.get(key).rows.push(row);
    else found.set(key, { key, before, after, rows: [row], way: slopeMove(row, measure) });
  }
  return [...found.values()].sort((one, other) =>
    one.after - one.before - (other.after - other.before));
}

function slopeFigure(rows, measure, builds, choose) {
  const all = slopes(rows, measure);
  if (!all.length) return null;
  const { height, from } = SLOPES;
  const [width, to] = [slopesWidth(), slopesEnd()];
  const [before, after] = endsOf(builds, Math.floor((to - from) / 2 / SLOPES.letter) - 1);
  const ends = all.flatMap(({ before, after }) => [before, after]);
  const most = Math.max(measure.least, ...ends);
  const [top, bottom] = [26, height - 14];
  const y = (value) => bottom - (value / most) * (bottom - top);
  const ticks = roundTicks(most, 8).map((value) => [
    svg("line", { x1: from, x2: to, y1: y(value), y2: y(value), class: "grid" }),
    textAt(from - 8, y(value) + 3.5, measure.show(value), { class: "tick end" }),
  ]);
  const lines = all.map((slope) =>
    svg("g", { class: `slope ${slope.after < slope.before ? "down" : "up"}`,
      "data-slope": slope.key, onclick: () => choose({ slope: slope.key }) },
      svg("line", { x1: from, y1: y(slope.before), x2: to, y2: y(slope.after),
        "stroke-width": Math.min(9, 1.6 + Math.log2(slope.rows.length)) }),
      svg("circle", { cx: from, cy: y(slope.before), r: 3.5 }),
      svg("circle", { cx: to, cy: y(slope.after), r: 3.5 }),
      svg("title", {}, slopeInWords(slope))));
  const moved = all.reduce((sum, slope) => sum + slope.rows.length, 0);
  const label = `${measure.title} from the old build to the new one: ` +
    all.map(slopeInWords).join("; ").slice(0, 2000);
  return html("figure", { class: "slopes" },
    html("figcaption", {}, html("b", {}, measure.title), html("span", { class: "quiet" },
      ` of ${plural(moved, "kernel")} that gained or lost; thicker is more kernels`)),
    drawing(width, height, label, ticks,
      textAt(from, 14, before, { class: "axis" }),
      textAt(to, 14, after, { class: "axis end" }),
      lines, slopeLabels(all, y)));
}

/* Names of the builds above the slopes, or old and new if they have no room. */
function endsOf(builds, most) {
  const names = shortBuilds(builds);
  return names.length && names.every((name) => name.length <= most) ? names : ["old", "new"];
}

function slopeInWords({ way, rows }, most = 60) {
  const who = rows.length > 1 ? plural(rows.length, "kernel") : rows[0].title.brief;
  const room = Math.max(4, most - way.length - 2);
  return `${who.length > room ? `${who.slice(0, room - 1)}…` : who}: ${way}`;
}

/* Names at the ends of the slopes, those of the most kernels where names would overlap. */
function slopeLabels(all, y) {
  const most = Math.floor((slopesWidth() - slopesEnd() - 12) / SLOPES.letter);
  const shown = [];
  for (const slope of [...all].sort((one, other) => other.rows.length - one.rows.length))
    if (shown.every(({ after }) => Math.abs(y(after) - y(slope.after)) >= SLOPES.line))
      shown.push(slope);
  return shown.map((slope) => textAt(slopesEnd() + 12, y(slope.after) + 3.5,
    slopeInWords(slope, most), { class: "tick" }));
}
