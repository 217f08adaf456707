/* Kernels through several builds. kernelinfo/render/trend/html.py writes the data. */
"use strict";

const SPARK = { width: 96, height: 26, edge: 3 };

function readTrend(text) {
  const data = JSON.parse(text);
  const rows = data.rows.map(([status, why, moved, title, library, target, also, curves], index) => ({
    index, status, why, moved, title: titleOf(title), library, target, also,
    curves: Object.fromEntries(data.measures.map((name, nth) => [name, curves[nth]])),
  }));
  return { ...data, rows };
}

const isNumber = (value) => value !== null && value !== undefined;
const last = (values) => [...values].reverse().find(isNumber);
const first = (values) => values.find(isNumber);

/* A line through the builds, from 0 up. It has a gap for builds without the kernel. */
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
  const label = `${name}: ${values.map((value) => (isNumber(value) ? show(value) : "–")).join(", ")}`;
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "spark", role: "img",
    "aria-label": label },
    svg("title", {}, label),
    runs.map((run) => svg("polyline", { points: run.join(" "), "data-points": run.length })),
    end < 0 ? null : svg("circle", { cx: x(end), cy: y(values[end]), r: 2.4 }));
}

/* `8 → 4`: the first and the last build with the kernel, above its curve. */
function curveCell({ curves }, key, name, show) {
  const [before, after] = [first(curves[key]), last(curves[key])];
  if (!isNumber(after)) return "?";
  const words = before === after ? show(after) : `${show(before)} → ${show(after)}`;
  return html("span", { class: "curve" }, words, sparkline(curves[key], name, show));
}

const curved = (key, label, show) => ({
  key, label, show: (row) => curveCell(row, key, label, show),
  of: ({ curves }) => (last(curves[key]) ?? 0) - (first(curves[key]) ?? 0),
});

const TREND_COLUMNS = [
  { key: "status", label: "became", text: true, of: ({ index }) => String(index).padStart(9, "0"),
    show: ({ status }) => html("span", { class: `status ${status}` }, status) },
  { key: "name", label: "kernel", text: true, of: ({ title }) => title.brief,
    show: ({ title, also }) => nameCell(title, null, also) },
  { key: "library", label: "library", text: true, of: ({ library }) => library },
  { key: "target", label: "target", text: true, of: ({ target }) => target },
  { ...curved("waves_per_simd", "waves/SIMD", number), rising: true },
  curved("vgprs", "VGPR", number),
  curved("vgpr_spills", "spills", number),
  curved("scratch_bytes_per_lane", "scratch", bytes),
  curved("code_bytes", "code", bytes),
  { key: "moved", label: "in", text: true, of: ({ moved }) => moved },
  { key: "why", label: "why", text: true, of: ({ why }) => why },
];

/* Build by build, the compilers that changed. */
const compilersOf = ({ recompiled }) => recompiled.map(([build, words]) =>
  html("p", {}, `Compiler of ${build}: ${words}`));

/* A table from a heading and rows of text. */
function plainTable(caption, [heads, ...rows]) {
  return rows.length ? tableOf(caption, heads, rows.map((cells) => ({ cells })),
    heads.map((head, nth) => (nth && head !== "target" ? "n" : "-")).join("")) : null;
}

/* The builds, one per row, and a curve under each sum. */
function buildsOf({ builds, steps }) {
  const sums = [
    ["kernels", "kernels", grouped], ["waves_per_simd", "waves/SIMD", grouped],
    ["spilling", "spilling", grouped], ["scratch_bytes_per_lane", "scratch", bytes],
    ["vgprs", "VGPRs", grouped], ["code_bytes", "code", bytes],
  ];
  const rows = builds.map((build, nth) => ({
    cells: [build.name, ...sums.map(([key, , show]) => show(build[key])), steps[nth]],
  }));
  rows.push({ cells: ["", ...sums.map(([key, name, show]) =>
    sparkline(builds.map((build) => build[key]), name, show)), ""] });
  const heads = ["build", ...sums.map(([, name]) => name), "since the build before"];
  return tableOf("The builds", heads, rows, "-nnnnnn-");
}

function trendPage(trend) {
  const { rows } = trend;
  const filters = { name: "", status: "", library: "", target: "" };
  const table = sortedTable("Kernels that moved, are gone or new", TREND_COLUMNS,
    { key: "status", rising: true });
  const { update, follow } = addressed(filters, table, draw);
  const { search, choice, clear } = controlsOf(filters, update);
  const counted = (key) => [...tally(rows.map((row) => row[key]))]
    .map(([name, count]) => [name, name, count]);
  const bar = barOf(search, choice("status", "what became of it", counted("status")),
    choice("library", "library", counted("library")),
    choice("target", "target", counted("target")), clear);
  function draw() {
    const { name, status, library, target } = filters;
    showFilters(bar, filters);
    table.show(rows.filter((row) => (!name || row.title.sought.includes(name)) &&
      (!status || row.status === status) && (!library || row.library === library) &&
      (!target || row.target === target)));
  }
  addEventListener("hashchange", follow);
  follow();
  return html("article", { class: "diff trend" },
    html("header", {}, html("h1", {}, trend.headline), compilersOf(trend)), buildsOf(trend),
    plainTable("Where kernels moved", trend.places), plainTable("All kernels", trend.groups),
    bar, table.element);
}

byId("page").append(trendPage(readTrend(byId("report").textContent)));
document.title = "kernelinfo trend";
