/* The page of `kernelinfo pressure --format html`: a section per kernel, highest peak first. */
"use strict";

const COUNTS = ["peak", "spill stores", "reloads", "instructions", "vector", "matrix", "scalar", "LDS",
  "load", "store", "atomic", "scalar load", "scratch", "branch", "wait", "barrier", "copy", "other",
  "load B", "store B"];

function pressurePage(report) {
  const kernels = report.kernels.map((kernel) => {
    const title = titleOf(kernel.title);
    return html("article", { class: "kernel" },
      html("h1", { tabindex: "-1", class: "clamped" }, title.brief),
      title.name === title.brief ? null : html("p", { class: "name" }, title.name),
      html("p", { class: "about" }, kernel.about.filter(Boolean).join(" · ")),
      pressureSection(kernel.pressure),
      countsOf("Source lines", ["source line", ...COUNTS], kernel.lines),
      countsOf("Loops", ["loop", "depth", ...COUNTS], kernel.loops));
  });
  return [problemsOf(report), ...kernels].filter(Boolean);
}

function countsOf(caption, headings, rows) {
  if (!rows.length) return null;
  const shown = headings.map((_, column) => rows.some((row) => row[column] !== 0));
  const kept = (cells) => cells.filter((_, column) => shown[column]);
  return html("section", {}, html("h2", {}, caption),
    tableOf(caption, kept(headings), rows.map((row) => ({ cells: kept(row).map((one) => String(one ?? "?")) })),
      ` ${"n".repeat(kept(headings).length - 1)}`));
}

const report = JSON.parse(byId("report").textContent);
byId("page").replaceChildren(...pressurePage(report));
const first = report.kernels[0];
if (report.kernels.length === 1)
  document.title = `${titleOf(first.title).brief.slice(0, 120)} · live registers · kernelinfo`;
