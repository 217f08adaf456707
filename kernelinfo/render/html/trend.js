/* Kernels through several builds. kernelinfo/render/trend/html.py writes the data. */
"use strict";

const SPARK = { width: 96, height: 26, edge: 3 };

function readTrend(data) {
  const places = placesOf(data.origins);
  const titles = data.titles.map((row, index) => titleOf(row, data.briefs[index]));
  const rows = data.rows.map(([status, why, moved, also, title, at, curves], index) => ({
    index, status, why, moved, also, title: titles[title], ...places[at],
    curves: named(data.measures, curves),
  }));
  return { ...data, rows };
}

const isNumber = (value) => value !== null && value !== undefined;
const last = (values) => [...values].reverse().find(isNumber);
const first = (values) => values.find(isNumber);

/* A line through the builds, from 0 up, with `show(value, nth)` as its tooltip. It has a gap for builds without the kernel. */
function sparkline(values, name, show) {
  const { width, height, edge } = SPARK;
  const most = Math.max(...values.filter(isNumber), 0) || 1;
  const x = (nth) => edge + (nth / Math.max(values.length - 1, 1)) * (width - 2 * edge);
  const y = (value) => height - edge - (value / most) * (height - 2 * edge);
  const runs = [[]];
  values.forEach((value, nth) => {
    if (isNumber(value)) runs.at(-1).push(`${x(nth)},${y(value)}`);
    else if (runs.at(-1).length) runs.push([]);
  });
  const end = values.findLastIndex(isNumber);
  const label = `${name}: ` +
    values.map((value, nth) => (isNumber(value) ? show(value, nth) : "–")).join(", ");
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "spark", role: "img",
    "aria-label": label },
    svg("title", {}, label),
    runs.map((run) => svg("polyline", { points: run.join(" "), "data-points": run.length })),
    end < 0 ? null : svg("circle", { cx: x(end), cy: y(values[end]), r: 2.4 }));
}

/* `8 → 4`: the first and the last build with the kernel, above its curve. */
function curveCell({ curves }, { key, label, numberAt, move }) {
  const values = curves[key];
  const end = values.findLastIndex(isNumber);
  if (end < 0) return "?";
  const [before, after] = [values.findIndex(isNumber), end].map((nth) => numberAt(values[nth], curves, nth));
  const words = move ? move(first(values), last(values))
    : before === after ? after : `${before} → ${after}`;
  return html("span", { class: "curve" }, words,
    sparkline(values, label, (value, nth) => numberAt(value, curves, nth)));
}

/* A column of curves. `numberAt(value, curves, nth)` is the number of a build in words, and `move`
   the first and the last one where these need other words. */
const curved = (key, label, width, numberAt = number, move = null) => ({
  key, label, width, show: (row) => curveCell(row, { key, label, numberAt, move }),
  of: ({ curves }) => (last(curves[key]) ?? 0) - (first(curves[key]) ?? 0),
  also: ({ curves }) => curves[key].map((value, nth) =>
    (isNumber(value) ? numberAt(value, curves, nth) : "")).join(),
});

/* A column of curves of bytes, in one unit. */
const curvedBytes = (key, label, width) => ({
  ...curved(key, label, width, bytes),
  bytes: ({ curves }) => [first(curves[key]), last(curves[key])],
  show: (row, _, isKib) => curveCell(row, { key, label,
    numberAt: (value) => bytesIn(isKib, value),
    move: (before, after) => bytesMove(before, after, isKib) }),
});

const wavesAt = (waves, { exact }, nth) =>
  boundOf({ exact: exact[nth], waves_per_simd: waves }) + number(waves);

const TREND_COLUMNS = [
  STATUS_COLUMN,
  { key: "name", label: "kernel", text: true, of: ({ title }) => title.brief,
    also: ({ also }) => also, show: ({ title, also }, count) => nameCell(title, null, count, also) },
  { key: "library", label: "library", text: true, width: 10, of: ({ library }) => library,
    show: ({ library }) => breakable(library) },
  { key: "target", label: "target", text: true, of: ({ target }) => target },
  { ...curved("waves_per_simd", "waves/SIMD", 8.4, wavesAt), rising: true },
  curved("vgprs", "VGPR", 5.6),
  curved("vgpr_spills", "spills", 5.4),
  curvedBytes("scratch_bytes_per_lane", "scratch", 7.4),
  curvedBytes("code_bytes", "code", 8.6),
  { key: "moved", label: "in", text: true, width: 7, of: ({ moved }) => moved,
    show: ({ moved }) => breakable(moved) },
  { key: "why", label: "why", text: true, width: 12, of: ({ why }) => why },
];

/* Columns of a trend: the library if there are several, curves if one of them moved or is not 0. */
function trendColumns(rows) {
  const isShown = ({ key }) => {
    if (key === "library") return rows.some(({ library }) => library);
    if (!["vgpr_spills", "scratch_bytes_per_lane"].includes(key)) return true;
    return rows.some(({ curves }) => curves[key].some((value) => value));
  };
  return fitTargets(TREND_COLUMNS.filter(isShown), rows.map(({ target }) => target));
}

/* Build by build, the compilers that changed. */
const compilersOf = ({ recompiled }) => recompiled.map(([build, words]) =>
  html("p", {}, `Compiler of ${build}: ${words}`));

/* A section with a table from a heading and rows of text; null without rows. */
function plainTable(caption, [heads, ...rows]) {
  if (!rows.length) return null;
  const targets = targetLabels(rows.map((cells) => cells[heads.indexOf("target")] ?? ""));
  const shown = rows.map((cells, index) => ({ cells: cells.map((cell, nth) =>
    (heads[nth] === "target" ? targets[index] : cell)) }));
  return html("section", {}, html("h2", {}, caption), tableOf(caption, heads, shown,
    heads.map((head, nth) => (nth && head !== "target" ? "n" : "-")).join("")));
}

/* `commit=1a2b3c`: what `scan --label` gave the build. */
const labelsOf = ({ labels }) =>
  Object.entries(labels).map(([name, value]) => `${name}=${value}`).join(" ");

/* The builds, one per row, and a curve under each sum. */
function buildsOf({ builds, steps }) {
  const sums = [
    ["kernels", "kernels", grouped], ["waves_per_simd", "waves/SIMD", grouped],
    ["spilling", "spilling", grouped], ["scratch_bytes_per_lane", "scratch", roughly],
    ["vgprs", "VGPRs", grouped], ["code_bytes", "code", roughly],
  ];
  const rows = builds.map((build, nth) => ({
    cells: [build.name, ...sums.map(([key, , show]) => show(build[key])),
      [steps[nth], labelsOf(build)].filter(Boolean).join(" · ")],
  }));
  rows.push({ cells: ["", ...sums.map(([key, name, show]) =>
    sparkline(builds.map((build) => build[key]), name, show)), ""] });
  const heads = ["build", ...sums.map(([, name]) => name), "since the build before"];
  return tableOf("The builds", heads, rows, "-nnnnnn-");
}

function trendPage(trend) {
  const { rows } = trend;
  const [title, ...rest] = trend.headline.split(" · ");
  const filters = { name: "", status: "", library: "", target: "" };
  const table = sortedTable("Kernels that moved, are gone or new", trendColumns(rows),
    { key: "status", rising: true });
  const { update, follow } = addressed(filters, table, draw);
  const { search, choice, clear } = controlsOf(filters, update);
  const statuses = [...tally(rows.map(({ status }) => status))];
  const bar = barOf(search,
    choice("status", "what became of it", statuses.map(([name, count]) => [name, name, count])),
    libraryChoice(rows, choice),
    choice("target", "target", targetChoices(rows.map(({ target }) => target))), clear);
  function draw() {
    const { name, status, library, target } = filters;
    showFilters(bar, filters);
    table.show(rows.filter((row) => (!name || row.title.sought.includes(name)) &&
      (!status || row.status === status) && (!library || row.library === library) &&
      (!target || isOfTarget(row.target, target))), rows.length);
  }
  addEventListener("hashchange", follow);
  follow();
  return html("article", { class: "diff trend" },
    html("header", {}, html("h1", {}, title), html("p", { class: "about" }, rest.join(" · ")),
      compilersOf(trend)), buildsOf(trend),
    plainTable("Where kernels moved", trend.moved_in),
    plainTable(`All kernels by ${trend.groups[0]?.[0]}`, trend.groups),
    bar, table.element);
}

openWith((data) => {
  const trend = readTrend(data);
  ranked(trend.rows);
  byId("page").append(trendPage(trend));
  document.title = "kernelinfo trend";
});
