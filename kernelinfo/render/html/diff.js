/* Two builds compared. kernelinfo/render/diff/html.py writes the data. */
"use strict";

const STATUS = { moved: "moved within its steps", renamed: "only renamed" };

function readComparison(text) {
  const data = JSON.parse(text);
  const sideOf = (side) => side && {
    title: titleOf(side[0]),
    target: side[1],
    location: side[2],
    ...Object.fromEntries(data.measures.map((name, index) => [name, side[3][index]])),
  };
  const rows = data.rows.map(([status, why, before, after], index) => {
    const [old, now] = [sideOf(before), sideOf(after)];
    const { title, target } = now ?? old;
    return { index, status, why, old, now, title, target };
  });
  return { ...data, rows };
}

const orUnknown = (value, show) => (value === null || value === undefined ? "?" : show(value));

/* `5 → 4`, or one number if both are equal. A build without the kernel has a dash. */
function moveOf({ old, now }, key, show = String) {
  const [before, after] = [old, now].map((side) => (side ? orUnknown(side[key], show) : "–"));
  return before === after ? before : `${before} → ${after}`;
}

function wavesMove({ old, now }) {
  const [before, after] = [old, now].map((side) => {
    if (!side) return "–";
    const bound = side.exact === false && side.waves_per_simd ? "≤ " : "";
    return bound + orUnknown(side.waves_per_simd, number);
  });
  return before === after ? before : `${before} → ${after}`;
}

const gain = (key) => ({ old, now }) => (now?.[key] ?? 0) - (old?.[key] ?? 0);

const measured = (key, label, show) =>
  ({ key, label, of: gain(key), show: (row) => moveOf(row, key, show) });

const DIFF_COLUMNS = [
  { key: "status", label: "became", text: true, of: ({ index }) => String(index).padStart(9, "0"),
    show: ({ status }) => html("span", { class: `status ${status}` }, status) },
  { key: "name", label: "kernel", text: true, of: ({ title }) => title.brief,
    show: ({ title, old }) => nameCell(title, null,
      old && old.title.name !== title.name ? `was ${old.title.name}` : "") },
  { key: "target", label: "target", text: true, of: ({ target }) => target,
    show: (row) => moveOf(row, "target").replace("– → ", "").replace(" → –", "") },
  { key: "waves_per_simd", label: "waves/SIMD", rising: true, of: gain("waves_per_simd"),
    show: wavesMove },
  measured("reserved_vgprs", "VGPR"),
  measured("lds_bytes", "LDS", bytes),
  measured("scratch_bytes_per_lane", "scratch", bytes),
  { key: "why", label: "why", text: true, of: ({ why }) => why },
];

function diffPage(comparison) {
  const { rows } = comparison;
  const filters = { name: "", status: "", target: "", slope: "" };
  const table = sortedTable("Kernels that moved, are gone or new", DIFF_COLUMNS,
    { key: "status", rising: true });
  const { update, follow } = addressed(filters, table, draw);
  const charts = html("div");
  const measure = measureOf(rows);
  const { search, choice, clear } = controlsOf(filters, update);
  const counted = (key) => [...tally(rows.map((row) => row[key]))];
  const bar = barOf(search,
    choice("status", "what became of it",
      counted("status").map(([name, count]) => [name, STATUS[name] ?? name, count])),
    choice("target", "target", counted("target").map(([name, count]) => [name, name, count])),
    clear);
  function draw() {
    const { name, status, target, slope } = filters;
    const chosen = rows.filter((row) =>
      (!name || row.title.sought.includes(name) || row.old?.title.sought.includes(name)) &&
      (!status || row.status === status) && (!target || row.target === target) &&
      (!slope || slopeKey(row, measure) === slope));
    showFilters(bar, filters);
    table.show(chosen);
    const figure = slopeFigure(chosen, measure, (by) => { Object.assign(filters, by); update(); });
    charts.replaceChildren(...(figure ? [figure] : []));
  }
  addEventListener("hashchange", follow);
  follow();
  return html("article", { class: "diff" },
    html("header", {}, html("h1", {}, comparison.headline),
      comparison.about.map((line) => html("p", { class: "about" }, line))),
    problemsOf(comparison), bar, charts, table.element);
}

const comparison = readComparison(byId("report").textContent);
byId("page").append(diffPage(comparison));
document.title = "kernelinfo diff";
