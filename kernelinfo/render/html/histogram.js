/* Kernels of each target by waves/SIMD. A bar chooses its kernels. */
"use strict";

/* Height of one chart alone, and width and height of one of several. A bar of 16 has room for 3
   letters. */
const ALONE = 240;
const ONE_OF_SEVERAL = [380, 136];
/* More charts than this get the whole width of the page. */
const MANY_TARGETS = 4;
const WIDEST_BAR = 34;

/* A count in 3 letters up to 99 999: 999, 1k, 88k. The bar's title has it whole. */
const inShort = (count) => (count < 1000 ? String(count) : `${Math.round(count / 1000)}k`);

function spreadFigure(kernels, report, choose) {
  const byTarget = new Map();
  for (const kernel of kernels) {
    if (!byTarget.has(kernel.label)) byTarget.set(kernel.label, []);
    byTarget.get(kernel.label).push(kernel);
  }
  const labels = [...byTarget.keys()].sort(byTargetName);
  const charts = labels.map((label) => {
    const own = byTarget.get(label);
    return { label, kernels: own, counts: tally(own.map(wavesBin)), target: report.targets[own[0].target] };
  });
  const most = Math.max(0, ...charts.map(({ kernels: own, counts }) =>
    Math.max(...counts.values()) / own.length));
  return html("figure", { class: labels.length > MANY_TARGETS ? "spread whole" : "spread" },
    html("figcaption", {}, html("b", {}, "Waves/SIMD"),
      html("span", { class: "quiet" }, " kernels of each target by the waves that they reach")),
    html("div", { class: labels.length > 1 ? "multiples" : null },
      charts.map((chart) =>
        histogram(chart, most, labels.length > 1 ? ONE_OF_SEVERAL : [columnWidth(), ALONE], choose))));
}

function histogram({ label: name, kernels, counts, target }, most, [width, height], choose) {
  const floor = height - 18;
  const slots = target ? target.waves.slots_per_simd : 0;
  const lower = ["?", "0", "<1"].filter((bin) => counts.has(bin));
  const bins = [...lower, ...Array.from({ length: slots }, (_, index) => String(index + 1))];
  const pitch = width / Math.max(1, bins.length);
  const bar = Math.min(WIDEST_BAR, pitch - 4);
  const scale = (count) => (count ? 3 + ((floor - 22) * count) / (most * kernels.length) : 0);
  const bars = bins.map((bin, index) => {
    const count = counts.get(bin) ?? 0;
    const x = index * pitch;
    const label = `${name || "unknown target"}: ${plural(count, "kernel")}, ` +
      `${binLabel(bin)}${/\d/.test(bin) && bin !== "0" ? " waves/SIMD" : ""}`;
    return svg("g", { class: count ? "bar" : null, "data-bin": bin,
      onclick: () => count && choose({ target: name, waves: bin }) },
      svg("rect", { x, y: 4, width: pitch, height: floor - 4, class: "catch" }),
      svg("rect", { x: x + (pitch - bar) / 2, y: floor - scale(count), width: bar,
        height: scale(count), rx: 1.5, class: "filled" }),
      count ? textAt(x + pitch / 2, floor - 4 - scale(count), inShort(count),
        { class: "tick middle counted" }) : null,
      textAt(x + pitch / 2, floor + 13, bin, { class: "tick middle" }),
      svg("title", {}, label));
  });
  const counted = bins.filter((bin) => counts.has(bin))
    .map((bin) => `${binLabel(bin)}: ${counts.get(bin)}`).join(", ");
  return html("div", {},
    html("p", { class: "target-name" }, html("b", {}, name || "unknown target"),
      html("span", { class: "quiet" },
        ` ${target ? target.family : ""} · ${plural(kernels.length, "kernel")}`)),
    drawing(width, height, `${name}: kernels by waves per SIMD: ${counted}`,
      svg("line", { x1: 0, x2: width, y1: floor, y2: floor, class: "grid" }), bars));
}
