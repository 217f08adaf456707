/* Two builds compared. kernelinfo/render/diff/html.py writes the data. */
"use strict";

const STATUS = { moved: "moved within its steps", renamed: "only renamed" };

function readComparison(data) {
  const places = placesOf(data.places);
  const titles = ["old", "new"].map((build) => data[`${build}_titles`].map((row, index) =>
    titleOf(row, data[`${build}_briefs`][index])));
  const numbers = data.numbers.map((row) => named(data.measures, row));
  const sideOf = (side, build) =>
    side && { title: titles[build][side[0]], ...places[side[1]], ...numbers[side[2]] };
  const rows = data.rows.map(([status, why, options, before, after], index) => {
    const [old, now] = [sideOf(before, 0), sideOf(after, 1)];
    const { title, target, library } = now ?? old;
    return { index, status, why, options, old, now, title, target, library };
  });
  return { ...data, rows };
}

const orUnknown = (value, show) => (value === null || value === undefined ? "?" : show(value));

/* `5 → 4`, or one number if both are equal. A build without the kernel has a dash. */
function moveOf({ old, now }, key, show = String) {
  const [before, after] = [old, now].map((side) =>
    (side ? orUnknown(side[key], (value) => show(value, side)) : "–"));
  return before === after ? before : `${before} → ${after}`;
}

const isNumber = (value) => value !== null && value !== undefined;

const bytesMoveOf = (row, key, isKib) => ([row.old, row.now].every((side) => isNumber(side?.[key]))
  ? bytesMove(row.old[key], row.now[key], isKib)
  : moveOf(row, key, (count) => bytesIn(isKib, count)));

const wavesMove = (row) =>
  moveOf(row, "waves_per_simd", (waves, side) => boundOf(side) + number(waves));

const gain = (key) => ({ old, now }) => (now?.[key] ?? 0) - (old?.[key] ?? 0);

const measured = (key, label, width) => ({ key, label, width, of: gain(key),
  also: (row) => moveOf(row, key), show: (row) => moveOf(row, key) });

const measuredBytes = (key, label, width) => ({ ...measured(key, label, width),
  bytes: ({ old, now }) => [old?.[key] ?? 0, now?.[key] ?? 0],
  show: (row, _, isKib) => bytesMoveOf(row, key, isKib) });

const DIFF_COLUMNS = [
  STATUS_COLUMN,
  { key: "name", label: "kernel", text: true, of: ({ title }) => title.brief,
    also: besideName,
    show: (row, count) => nameCell(row.title, null, count, besideName(row)) },
  { key: "library", label: "library", text: true, width: 10.5,
    of: (row) => placeMove(row, "library"), show: (row) => breakable(placeMove(row, "library")) },
  { key: "target", label: "target", text: true, of: ({ target }) => target,
    also: (row) => placeMove(row, "target"), show: (row) => placeMove(row, "target") },
  { key: "waves_per_simd", label: "waves/SIMD", width: 8.8, rising: true,
    of: gain("waves_per_simd"), also: wavesMove, show: wavesMove },
  measured("reserved_vgprs", "VGPR", 6.2),
  measuredBytes("lds_bytes", "LDS", 7.4),
  measuredBytes("scratch_bytes_per_lane", "scratch", 7.2),
  { key: "why", label: "why", text: true, width: 17, of: ({ why }) => why },
];

function renamedFrom({ title, old }) {
  return old && old.title.name !== title.name ? `was ${old.title.name}` : "";
}

/* Triton's constants and the old name. */
function besideName(row) {
  return [row.options, renamedFrom(row)].filter(Boolean).join(" · ");
}

/* A library or target; both if a kernel moved to another one. */
const placeMove = (row, key) => (row.old && row.now ? moveOf(row, key) : row[key]);

function diffPage(comparison) {
  const { rows, builds } = comparison;
  const filters = { name: "", status: "", library: "", target: "", slope: "" };
  const isShown = { library: rows.some(({ library }) => library) };
  const table = sortedTable("Kernels that moved, are gone or new",
    fitTargets(DIFF_COLUMNS.filter(({ key }) => isShown[key] ?? true),
      rows.map((row) => placeMove(row, "target"))), { key: "status", rising: true });
  const { update, follow } = addressed(filters, table, draw);
  const charts = html("div");
  const measure = measureOf(rows);
  const { search, choice, clear } = controlsOf(filters, update);
  const bar = barOf(search,
    choice("status", "what became of it", [...tally(rows.map(({ status }) => status))]
      .map(([name, count]) => [name, STATUS[name] ?? name, count])),
    libraryChoice(rows, choice),
    choice("target", "target", targetChoices(rows.map(({ target }) => target))), clear);
  function draw() {
    const { name, status, library, target, slope } = filters;
    const chosen = rows.filter((row) =>
      (!name || row.title.sought.includes(name) || row.old?.title.sought.includes(name)) &&
      (!status || row.status === status) && (!library || row.library === library) &&
      (!target || isOfTarget(row.target, target)) &&
      (!slope || slopeKey(row, measure) === slope));
    showFilters(bar, filters);
    table.show(chosen, rows.length);
    const figure = slopeFigure(chosen, measure, builds,
      (by) => { Object.assign(filters, by); update(); });
    charts.replaceChildren(...(figure ? [figure] : []));
  }
  addEventListener("hashchange", follow);
  follow();
  return html("article", { class: "diff" },
    html("header", {}, html("h1", {}, comparison.headline), buildNames(builds),
      comparison.about.map((line) => html("p", { class: "about" }, unbroken(line)))),
    problemsOf(comparison), bar, charts, table.element);
}

function buildNames(builds) {
  if (!builds.length) return null;
  return html("dl", { class: "builds" }, ["old", "new"].map((name, index) =>
    html("div", {}, html("dt", {}, name), html("dd", {}, builds[index]))));
}

openWith((data) => {
  const comparison = readComparison(data);
  ranked(comparison.rows);
  byId("page").append(diffPage(comparison));
  const names = shortBuilds(comparison.builds);
  document.title = `${names.length ? `${names.join(" → ")} · ` : ""}kernelinfo diff`;
});
