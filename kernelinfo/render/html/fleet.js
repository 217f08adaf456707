/* Many kernels: distribution of waves, limiters, spilling kernels, and a table of all. */
"use strict";

const SPILLERS = 8;
const FEW = 20;
/* Width and height by the number of charts in a row, so that all letters have one size. */
const HISTOGRAMS = { 1: [540, 240], 2: [260, 150], 3: [180, 100] };
/* Width of a digit. */
const LETTER = 6.5;

function fleetPage(report) {
  const filters = { name: "", target: "", limiter: "", waves: "", trait: "", uses: "" };
  const usual = { key: report.kernels.length > FEW ? "percent" : "", rising: true };
  const table = sortedTable("Kernels; headings sort", COLUMNS, usual);
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
    table.show(kernels);
    charts.replaceChildren(...[
      spreadFigure(kernels, report, choose),
      scatterFigure(kernels, report, choose),
      spillersFigure(kernels),
    ].filter(Boolean));
  }
  const element = html("article", { class: "fleet" },
    html("header", {}, html("h1", { tabindex: "-1" }, heading(report)),
      html("p", { class: "about" }, summary(report))),
    problemsOf(report), bar, charts, table.element);
  return { element, follow };
}

function heading(report) {
  const paths = [...new Set(report.inputs.map((input) => input.location.split(" › ")[0]))];
  return paths.length === 1 ? paths[0] : plural(paths.length, "file");
}

function summary(report) {
  const { kernels } = report;
  const severities = tally(kernels.flatMap(({ findings }) => findings.map((one) => one.severity)));
  const spilling = kernels.filter(isSpilling).length;
  return [
    plural(kernels.length, "kernel"),
    plural(report.inputs.length, "code object"),
    plural(new Set(kernels.map((kernel) => kernel.target)).size, "target"),
    spilling ? `${grouped(spilling)} spilling` : "none spilling",
    ...["error", "warning", "note"].filter((name) => severities.has(name))
      .map((name) => plural(severities.get(name), name)),
    report.problems.length ? `${plural(report.problems.length, "problem")}: not all was read`
      : "all read",
  ].join(" · ");
}

/* A histogram of waves/SIMD for each target. */
function spreadFigure(kernels, report, choose) {
  const byTarget = new Map();
  for (const kernel of kernels) {
    if (!byTarget.has(kernel.target)) byTarget.set(kernel.target, []);
    byTarget.get(kernel.target).push(kernel);
  }
  const names = [...byTarget.keys()].sort();
  const most = Math.max(0, ...names.map((name) => {
    const kernels = byTarget.get(name);
    return Math.max(...tally(kernels.map(wavesBin)).values()) / kernels.length;
  }));
  return html("figure", { class: "spread" },
    html("figcaption", {}, html("b", {}, "Waves/SIMD"),
      html("span", { class: "quiet" }, " what share of each target's kernels reaches how many")),
    html("div", { class: "multiples", style: `--columns:${Math.min(3, names.length)}` },
      names.map((name) => histogram(name, byTarget.get(name), most, report.targets[name],
        HISTOGRAMS[Math.min(3, names.length)], choose))));
}

function histogram(name, kernels, most, target, [width, height], choose) {
  const floor = height - 16;
  const slots = target ? target.waves.slots_per_simd : 0;
  const counts = tally(kernels.map(wavesBin));
  const lower = ["?", "0", "<1"].filter((bin) => counts.has(bin));
  const bins = [...lower, ...Array.from({ length: slots }, (_, index) => String(index + 1))];
  const pitch = (width - 8) / bins.length;
  const scale = (count) => (count ? 3 + ((floor - 22) * count) / (most * kernels.length) : 0);
  const longest = Math.max(...[...counts.values()].map((count) => grouped(count).length));
  const labelled = longest * LETTER < pitch;
  const bars = bins.map((bin, index) => {
    const count = counts.get(bin) ?? 0;
    const x = 4 + index * pitch;
    const label = `${name || "unknown target"}: ${plural(count, "kernel")}, ` +
      `${binLabel(bin)}${/\d/.test(bin) && bin !== "0" ? " waves/SIMD" : ""}`;
    const every = bins.length > 12 && Number(bin) % 4 && bin !== "<1";
    return svg("g", { class: count ? "bar" : null, "data-bin": bin,
      onclick: () => count && choose({ target: name, waves: bin }) },
      svg("rect", { x, y: 16, width: pitch, height: floor - 16, class: "catch" }),
      svg("rect", { x: x + 1, y: floor - scale(count), width: Math.max(1, pitch - 2),
        height: scale(count), class: "filled" }),
      count && labelled ? textAt(x + pitch / 2, floor - 4 - scale(count), grouped(count),
        { class: "tick middle" }) : null,
      every ? null : textAt(x + pitch / 2, floor + 13, bin, { class: "tick middle" }),
      svg("title", {}, label));
  });
  const counted = bins.filter((bin) => counts.has(bin))
    .map((bin) => `${binLabel(bin)}: ${counts.get(bin)}`).join(", ");
  const label = `${name}: kernels by waves per SIMD: ${counted}`;
  return html("div", {},
    html("p", { class: "cut" }, html("b", {}, name || "unknown target"),
      html("span", { class: "quiet" },
        ` ${target ? target.family : ""} · ${grouped(kernels.length)}`)),
    drawing(width, height, label,
      svg("line", { x1: 4, x2: width - 4, y1: floor, y2: floor, class: "grid" }), bars));
}

function spillersFigure(kernels) {
  const worst = kernels.filter(isSpilling).sort((one, other) =>
    (other.spills.vgprs ?? 0) - (one.spills.vgprs ?? 0) ||
    (other.spills.scratch ?? 0) - (one.spills.scratch ?? 0) ||
    (other.spills.sgprs ?? 0) - (one.spills.sgprs ?? 0));
  if (!worst.length) return null;
  const shown = (value) => String(value ?? "?");
  const rows = worst.slice(0, SPILLERS).map((kernel) => ({ cells: [
    html("a", { href: addressWith({ kernel: kernel.key }) }, shortened(kernel.title.brief)),
    kernel.target || "?", shown(kernel.spills.vgprs), shown(kernel.spills.sgprs),
    sized(known(kernel.spills.scratch))] }));
  const rest = worst.length > SPILLERS
    ? ` the first ${SPILLERS} of ${grouped(worst.length)}, by VGPRs spilled` : "";
  return html("figure", { class: "spillers" },
    html("figcaption", {}, html("b", {}, "Spilling"), html("span", { class: "quiet" }, rest)),
    tableOf("Kernels that spill the most", ["kernel", "target", "VGPRs", "SGPRs", "scratch"], rows,
      "  nnn"));
}
