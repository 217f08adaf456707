/* The page of `kernelinfo pressure --format html`: a table of the kernels, highest peak first, and the
   section of the chosen one. */
"use strict";

const COUNTS = ["peak", "spill stores", "reloads", "instructions", "vector", "matrix", "scalar", "LDS",
  "load", "store", "atomic", "scalar load", "scratch", "branch", "wait", "barrier", "copy", "other",
  "load B", "store B"];

function readPressure(data) {
  const libraries = libraryLabels(data.places.map(([, place, library]) => [place, library]));
  const targets = targetLabels(data.places.map(([target]) => target));
  const titles = data.titles.map((row, index) => titleOf(row, data.briefs[index]));
  const keys = new Map();
  const kernels = data.kernels.map(
    ([title, at, peak, sgprs, exact, instructions, spills, waves], index) => ({
      index, title: titles[title], peak, sgprs, exact, instructions, spills, waves,
      key: keyed(`${titles[title].symbol || titles[title].name} ${data.places[at][0]}`, keys),
      id: data.places[at][0], location: data.places[at][3],
      library: libraries[at], label: targets[at],
    }));
  return { ...data, kernels };
}

const leastOf = ({ exact }) => (exact ? "" : "≥ ");

const PRESSURE_COLUMNS = [
  { key: "name", label: "kernel", text: true, of: ({ title }) => title.brief,
    show: ({ title, key }, count) => nameCell(title, addressWith({ kernel: key }), count) },
  { key: "library", label: "library", text: true, width: 12, of: ({ library }) => library,
    show: ({ library }) => breakable(library) },
  { key: "target", label: "target", text: true, of: ({ label }) => label || "?" },
  { key: "peak", label: "vector peak", width: 7, of: ({ peak }) => peak,
    also: ({ exact }) => exact, show: (kernel) => `${leastOf(kernel)}${kernel.peak}` },
  { key: "sgprs", label: "SGPR peak", width: 6.6, of: ({ sgprs }) => sgprs,
    show: (kernel) => `${leastOf(kernel)}${kernel.sgprs}` },
  { key: "spills", label: "spills", width: 5, of: ({ spills }) => spills ?? -1,
    show: ({ spills }) => (spills === null ? "?" : String(spills)) },
  { key: "instructions", label: "instructions", width: 7.4,
    of: ({ instructions }) => instructions, show: ({ instructions }) => grouped(instructions) },
  { key: "waves", label: "waves/SIMD", width: 7, rising: true,
    of: ({ waves }) => (waves ? waves[0] : -1), also: ({ waves }) => waves?.[1],
    show: ({ waves }) => (waves
      ? boundOf({ waves_per_simd: waves[0], exact: waves[1] }) + number(waves[0]) : "?") },
];

/* The table of all kernels, with a filter by name. */
function pressureIndex(report) {
  const filters = { name: "", library: "", target: "" };
  const shown = { library: report.kernels.some(({ library }) => library) };
  const table = sortedTable("Kernels by their peak of live registers",
    fitTargets(PRESSURE_COLUMNS.filter(({ key }) => shown[key] ?? true),
      report.kernels.map(({ label }) => label)), { key: "peak", rising: false });
  const { update, follow } = addressed(filters, table, draw);
  const { search, choice, clear } = controlsOf(filters, update);
  const bar = barOf(search, libraryChoice(report.kernels, choice),
    choice("target", "target", targetChoices(report.kernels.map(({ label }) => label))), clear);
  function draw() {
    const { name, library, target } = filters;
    showFilters(bar, filters);
    table.show(report.kernels.filter((kernel) =>
      (!name || kernel.title.sought.includes(name)) && (!library || kernel.library === library) &&
      (!target || isOfTarget(kernel.label, target))), report.kernels.length);
  }
  const element = html("article", {},
    html("header", {}, html("h1", { tabindex: "-1" }, headingOf(report.kernels)),
      html("p", { class: "about" }, `Live registers of ${plural(report.kernels.length, "kernel")}; ` +
        "a name opens its curve, its source lines and its loops")),
    problemsOf(report), bar, table.element);
  return { element, follow };
}

/* The section of one kernel. Its curve is read when it is opened. */
function pressurePage(report, kernel) {
  const { title } = kernel;
  const page = html("article", { class: "kernel" },
    report.kernels.length === 1 ? problemsOf(report) : html("p", { class: "back" },
      html("a", { href: addressWith({ kernel: "" }) }, "← all kernels")),
    html("h1", { tabindex: "-1", class: "clamped" }, shortened(title.brief)),
    title.name === title.brief ? null : html("p", { class: "name" }, title.name),
    html("p", { class: "about" }, [kernel.id, kernel.location].filter(Boolean).join(" · ")));
  readPiece(piecesOf("details")[kernel.index]).then(async ({ pressure, panes, lines, loops }) => {
    const tables = [countsOf("Source lines", ["source line", ...COUNTS], lines),
      countsOf("Loops", ["loop", "depth", ...COUNTS], loops)];
    if (!panes) {
      page.append(pressureSection(pressure), ...tables);
      return;
    }
    const { sections: [chart, code], toPeak } = await codeSections(pressure, panes);
    page.append(chart, html("details", {}, html("summary", {}, "counts by source line and loop"),
      tables), code);
    if (report.kernels.length === 1) toPeak();
  });
  return page;
}

/* A table without columns that are 0 in all rows. */
function countsOf(caption, headings, rows) {
  if (!rows.length) return "";
  const isShown = headings.map((_, column) => rows.some((row) => row[column] !== 0));
  const kept = (cells) => cells.filter((_, column) => isShown[column]);
  const texts = rows.map((row) => ({ cells: kept(row).map((one) => String(one ?? "?")) }));
  return html("section", {}, html("h2", {}, caption),
    tableOf(caption, kept(headings), texts, ` ${"n".repeat(kept(headings).length - 1)}`));
}

openWith((data) => {
  const report = readPressure(data);
  const stage = byId("page");
  const index = report.kernels.length === 1 ? null : pressureIndex(report);
  function show() {
    const { kernel: key } = readAddress();
    const kernel = index ? report.kernels.find((one) => one.key === key) : report.kernels[0];
    stage.replaceChildren(kernel ? pressurePage(report, kernel) : index.element);
    if (!kernel) index.follow();
    document.title = `${kernel ? `${kernel.title.brief.slice(0, 120)} · ` : ""}live registers · kernelinfo`;
  }
  addEventListener("hashchange", () => {
    show();
    stage.querySelector("h1").focus({ preventScroll: true });
  });
  show();
});
