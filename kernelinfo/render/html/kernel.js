/* One kernel: outcome, sliders, curves, one CU, every number with its source. */
"use strict";

/* Longer names are folded, in characters. */
const LONG_NAME = 300;
const MOST_EQUAL = 100;

function kernelPage(report, kernel) {
  const single = report.kernels.length === 1;
  const page = html("article", { class: "kernel" },
    single ? null : html("p", { class: "back" },
      html("a", { href: addressWith({ kernel: "", ...NO_CHANGES }) }, "← all kernels")),
    kernelHeading(report, kernel));
  if (kernel.case) {
    page.append(...explained(report, kernel));
  } else {
    page.append(html("p", { class: "outcome" }, html("span", { class: "waves" }, "?"),
      ` ${whyUnknown(report, kernel)}: its occupancy is not known`),
    ...findingList(kernel.findings));
  }
  page.append(equalOnes(report, kernel));
  detailsOf(report, kernel).then((details) => {
    if (!report.is_given) page.append(sourcesOf(report, kernel, details));
    if (details.source) page.querySelector(".about").append(` · ${details.source}`);
    return codeOf(kernel);
  }).then((sections) => page.append(...sections));
  return page;
}

/* Live registers, source and instructions, if the page has them. */
async function codeOf(kernel) {
  const script = piecesOf("code")[kernel.index];
  if (!script) return [];
  const code = await readPiece(script);
  return code ? (await codeSections(code.pressure, code.panes)).sections
    : [html("p", { class: "quiet" }, "Its instructions were not read; `kernelinfo pressure` says why.")];
}

function whyUnknown(report, { input: { target } }) {
  if (target in report.targets)
    return "it is compiled for other workgroup sizes than the one asked about";
  return `the target ${target || "is not named and"} is not known`;
}

function kernelHeading(report, kernel) {
  const { title, input } = kernel;
  const target = report.targets[kernel.target];
  const own = input.id || "unknown target";
  const about = [
    target && target.name !== input.target ? `${own}, what if on ${target.name}` : own,
    target && target.family,
    kernel.case && `wave${kernel.case.demand.wave_size}`,
    input.compiler,
    input.options,
    input.location,
  ];
  const cut = title.length > title.name.length
    ? html("p", { class: "quiet" }, `The name has ${plural(title.length, "character")}; ` +
        `the first ${grouped(title.name.length)} are here.`)
    : null;
  const long = title.name.length > LONG_NAME;
  const isShown = title.name === title.brief && !long;
  const whole = isShown ? null : html("p", { class: "name" }, title.name);
  const folded = [long ? whole : null,
    title.symbol ? html("p", { class: "name symbol" }, title.symbol) : null, cut].filter(Boolean);
  return html("header", {},
    html("h1", { tabindex: "-1", class: "clamped" }, shortened(title.brief)),
    long ? null : whole,
    html("p", { class: "about" }, about.filter(Boolean).join(" · ")),
    folded.length ? html("details", {},
      html("summary", {}, long ? "full name" : "mangled name"), folded) : null);
}

/* Redraws all parts that depend on the sliders, and updates the sliders' fields. */
function explained(report, kernel) {
  const compiled = caseWith(report, kernel, {});
  const changes = changesInAddress(report, kernel);
  const outcome = html("section", { class: "outcome" });
  const spoken = html("p", { class: "unseen", role: "status" });
  const findings = html("section", {});
  const sliders = html("div", { class: "sliders" });
  const curves = html("div", { class: "curves" });
  const unit = html("figure", { class: "unit" });
  const resources = html("section", {});
  const reset = html("button", { type: "button", onclick: () => {
    for (const name of Object.keys(changes)) delete changes[name];
    rewriteChanges(changes);
    draw(true);
  } }, unchanged(report));
  const change = (name) => (value) => {
    changes[name] = value;
    rewriteChanges(changes);
    draw(name === "target");
  };
  function draw(anew) {
    const now = caseWith(report, kernel, changes);
    const before = Object.keys(changes).length ? compiled : null;
    const { used } = now;
    outcome.replaceChildren(...outcomeOf(now, before, kernel, report));
    findings.replaceChildren(...findingList(findingsAt(now, kernel, before, report)));
    if (before) spoken.textContent = inOneSentence(now);
    if (anew) sliders.replaceChildren(...slidersOf(now));
    else follow(sliders, now);
    reset.disabled = before === null;
    curves.replaceChildren(...["vgpr", "size", "lds"].map((name) =>
      curveFigure(name, now, before, report.targets, change(name))));
    const width = Math.max(320, unit.clientWidth || 960);
    unit.replaceChildren(
      html("figcaption", {}, html("b", {}, `One ${now.occupancy.per}`), " ",
        html("span", { class: "quiet" }, unitCaption(now, used))),
      unitFigure(now, used, width), unitKey(now, used));
    resources.replaceChildren(html("h2", {}, "Resources"), resourceTable(now),
      footnote(now));
  }
  const slidersOf = (now) => [
    targetChoice(now, kernel, report.targets, change("target")),
    ...SLIDERS.map((slider) => sliderOf(slider, now, report.targets, change(slider.variable))),
  ].filter(Boolean);
  draw(true);
  let width = 0;
  const resized = new ResizeObserver(() => {
    if (unit.clientWidth !== width) draw(false);
    width = unit.clientWidth;
  });
  resized.observe(unit);
  return [outcome, spoken, findings,
    html("section", { class: "what-if" },
      html("h2", { class: "headed" }, "What if", reset), sliders),
    curves,
    html("p", { class: "keys" }, "shaded: free room · arrow: the next step · " +
      "grey foot: sizes that the kernel allows · click to try a value"),
    report.pressure?.[kernel.index] ? pressureSection(report.pressure[kernel.index]) : "",
    unit, resources];
}

/* Sets each slider and its field to the chosen value, whichever of them moved. */
function follow(sliders, now) {
  for (const { variable } of SLIDERS) {
    const asked = ASKED[variable](now);
    const inputs = `[data-slider=${variable}], [data-number=${variable}]`;
    for (const input of sliders.querySelectorAll(inputs))
      if (asked !== null) input.value = asked;
  }
}

/* Links to kernels that have the same row in the table. */
function equalOnes(report, kernel) {
  if (kernel.look === undefined) return "";
  const others = report.kernels.filter((one) => one.look === kernel.look && one !== kernel);
  if (!others.length) return "";
  const links = others.slice(0, MOST_EQUAL).map((one) => html("li", {},
    html("a", { href: addressWith({ kernel: one.key, ...NO_CHANGES }) }, one.input.location)));
  const rest = others.length > MOST_EQUAL
    ? html("li", { class: "quiet" }, `… ${grouped(others.length - MOST_EQUAL)} more`) : null;
  return html("details", {},
    html("summary", {}, `the same numbers in ${plural(others.length, "more code object")}`),
    html("ul", { class: "places" }, links, rest));
}

/* The sources of each number. The first source counts. */
function sourcesOf(report, kernel, details) {
  const inText = kernel.input.kind === "assembly";
  const location = (at) =>
    at === null ? "" : inText ? `, line ${at}` : `, at 0x${at.toString(16)}`;
  const rows = report.facts.map((label, index) => {
    const stated = details.facts.filter(([fact]) => fact === index);
    if (!stated.length) return null;
    const sources = stated.map(([, source, value, at], rank) => {
      const differs = value !== stated[0][2] ? ` says ${value}` : "";
      return `${rank ? "; " : ""}${report.sources[source]}${differs}${location(at)}`;
    });
    return { cells: [label, String(stated[0][2]), sources.join("")] };
  });
  const list = (label, lines) => lines.length === 0 ? null
    : html("p", {}, html("b", {}, `${label} `), lines.map((at) => report.texts[at]).join("; "));
  return html("section", {},
    html("h2", {}, "Where the numbers come from"),
    tableOf("Facts and their sources", ["", "value", "sources; the first counts"],
      rows.filter(Boolean), " n "),
    list("code", details.code),
    list("a profiler should show", details.expected));
}
