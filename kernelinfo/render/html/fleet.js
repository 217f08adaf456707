/* Many kernels: distribution of waves, limiters, spilling kernels, and a table of all. */
"use strict";

const SPILLERS = 8;
const FEW = 20;
function fleetPage(report) {
  const filters = { name: "", library: "", target: "", limiter: "", waves: "", trait: "", uses: "" };
  const usual = { key: report.kernels.length > FEW ? "percent" : "", rising: true };
  const table = sortedTable("Kernels; headings sort", columnsOf(report), usual);
  const charts = html("div", { class: "charts" });
  let waiting = 0;
  const { update, follow } = addressed(filters, table, draw, () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(draw);
  });
  const bar = filterBar(report, filters, update);
  const choose = (chosen) => { Object.assign(filters, chosen); update(); };
  function draw() {
    const kernels = report.kernels.filter((kernel) => accepts(filters, kernel));
    showFilters(bar, filters);
    table.show(kernels, report.kernels.length);
    charts.replaceChildren(...[
      spreadFigure(kernels, report, choose),
      scatterFigure(kernels, report, choose),
      spillersFigure(kernels),
    ].filter(Boolean));
  }
  const element = html("article", { class: "fleet" },
    html("header", {}, html("h1", { tabindex: "-1" }, headingOf(report.inputs)),
      html("p", { class: "about" }, summary(report))),
    problemsOf(report), bar, charts, table.element);
  return { element, follow };
}

function summary(report) {
  const { kernels } = report;
  const severities = tally(kernels.flatMap(({ findings }) => findings.map((one) => one.severity)));
  const spilling = kernels.filter(isSpilling).length;
  return [
    plural(kernels.length, "kernel"),
    plural(report.inputs.length, "code object"),
    plural(new Set(kernels.map((kernel) => kernel.label)).size, "target"),
    spilling ? `${grouped(spilling)} spilling` : "none spilling",
    ...["error", "warning", "note"].filter((name) => severities.has(name))
      .map((name) => plural(severities.get(name), name)),
    report.problems.length ? `${plural(report.problems.length, "problem")}: not all was read`
      : "all read",
  ].join(" · ");
}

function spillersFigure(kernels) {
  const worst = kernels.filter(isSpilling).sort((one, other) =>
    (other.spills.vgprs ?? 0) - (one.spills.vgprs ?? 0) ||
    (other.spills.scratch ?? 0) - (one.spills.scratch ?? 0) ||
    (other.spills.sgprs ?? 0) - (one.spills.sgprs ?? 0));
  if (!worst.length) return null;
  const folded = new Map();
  const isKib = areKib(worst.map(({ spills }) => spills.scratch));
  for (const kernel of worst) {
    const { vgprs, sgprs, scratch } = kernel.spills;
    const place = [kernel.label || "?", kernel.library].filter(Boolean).join(" · ");
    const cells = [place, ...[vgprs, sgprs].map((count) => String(count ?? "?")), bytesIn(isKib, scratch)];
    const look = [kernel.title.brief, ...cells].join("\n");
    if (folded.has(look)) folded.get(look).count++;
    else folded.set(look, { kernel, cells, count: 1 });
  }
  const rows = [...folded.values()].slice(0, SPILLERS).map(({ kernel, cells, count }) => ({ cells: [
    nameCell(kernel.title, addressWith({ kernel: kernel.key }), count), ...cells] }));
  const rest = folded.size > SPILLERS
    ? ` the first ${SPILLERS} rows of ${plural(worst.length, "kernel")}, by VGPRs spilled` : "";
  return html("figure", { class: "spillers" },
    html("figcaption", {}, html("b", {}, "Spilling"), html("span", { class: "quiet" }, rest)),
    tableOf("Kernels that spill the most", ["kernel", "where", "VGPRs", "SGPRs", "scratch"], rows,
      "  nnn"));
}
