/* Which kernels of a fleet are looked at: the filters, and what they leave. */
"use strict";

const UNKNOWN = "?";

/* The whole waves/SIMD a kernel reaches; what lies below 1 is told apart from what cannot start. */
function wavesBin(kernel) {
  if (!kernel.case) return UNKNOWN;
  const waves = kernel.case.verdict.waves_per_simd;
  if (waves === 0) return "0";
  return waves < 1 ? "<1" : String(Math.floor(waves));
}

const limitersOf = (kernel) => (kernel.case ? kernel.case.verdict.limiters : []);

const isSpilling = ({ spills }) => Boolean(spills.vgprs || spills.sgprs);

/* What kernels may have in particular; findings are added by rule. */
const TRAITS = {
  spilling: ["spilling", isSpilling],
  scratch: ["with scratch", ({ spills }) => Boolean(spills.scratch)],
  findings: ["with findings", ({ findings }) => findings.length > 0],
  bounds: ["upper bounds (≤)", (kernel) => kernel.case && !kernel.case.verdict.exact],
  stuck: ["that cannot launch", (kernel) => kernel.case?.verdict.waves_per_simd === 0],
  unknown: ["of unknown target", (kernel) => !kernel.case],
};

function accepts(filters, kernel) {
  const { name, target, limiter, waves, trait, asks } = filters;
  return (!name || kernel.title.sought.includes(name)) &&
    (!target || kernel.target === target) &&
    (!limiter || limitersOf(kernel).includes(limiter)) &&
    (!waves || wavesBin(kernel) === waves) &&
    (!asks || asksKey(kernel) === asks) &&
    (!trait || (TRAITS[trait] ? TRAITS[trait][1](kernel)
      : kernel.findings.some((finding) => finding.rule === trait)));
}

/* What a kernel asks of the two resources that a programmer trades: VGPRs and LDS. */
function asksKey({ case: found }) {
  return found ? `${found.demand.vgprs}:${ldsOf(found.demand, found.launch)}` : null;
}

const tally = (values) => {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
};

/* Controls of filters: a choice for each key, a search for names; `changed()` follows any of them. */
function controlsOf(filters, changed) {
  return {
    search: html("div", { class: "filter wide" }, html("label", { for: "filter-name" }, "name"),
      html("input", { type: "search", id: "filter-name", placeholder: "part of a name",
        "data-filter": "name", spellcheck: "false", autocomplete: "off", 
        oninput: (event) => { filters.name = event.target.value.trim().toLowerCase(); changed(); } })),
    choice: (key, label, options) => html("div", { class: "filter" },
      html("label", { for: `filter-${key}` }, label),
      html("select", { id: `filter-${key}`, "data-filter": key,
        onchange: (event) => { filters[key] = event.target.value; changed(); } },
        html("option", { value: "" }, "all"),
        options.map(([value, text, count]) =>
          html("option", { value }, `${text} (${grouped(count)})`)))),
    clear: html("button", { type: "button", class: "clear",
      onclick: () => { clearFilters(filters); changed(); } }, "clear"),
  };
}

const barOf = (...controls) =>
  html("form", { class: "filters", onsubmit: (event) => event.preventDefault() }, controls);

/* Each choice with the count of what it leaves. */
function filterBar(report, filters, changed) {
  const { kernels } = report;
  const { search, choice, clear } = controlsOf(filters, changed);
  const targets = [...tally(kernels.map((kernel) => kernel.target))].sort();
  const limiters = [...tally(kernels.flatMap(limitersOf))];
  const waves = [...tally(kernels.map(wavesBin))].sort(byBin);
  const rules = [...tally(kernels.flatMap(({ findings }) =>
    [...new Set(findings.map((finding) => `${finding.rule} ${finding.name}`))]))].sort();
  const traits = Object.entries(TRAITS).map(([key, [text, has]]) =>
    [key, text, kernels.filter(has).length]);
  return barOf(
    search,
    choice("target", "target", targets.map(([name, count]) => [name, name || "unknown", count])),
    choice("limiter", "limited by", limiters.map(([name, count]) =>
      [name, RESOURCES[name], count])),
    choice("waves", "waves/SIMD", waves.map(([name, count]) => [name, binLabel(name), count])),
    choice("trait", "only those", [
      ...traits.filter(([, , count]) => count),
      ...rules.map(([name, count]) => [name.split(" ")[0], name, count])]),
    clear);
}

const binLabel = (bin) => ({ 0: "cannot launch", [UNKNOWN]: "unknown" })[bin] ?? bin;

const binRank = (bin) => ({ [UNKNOWN]: -2, 0: -1, "<1": 0.5 })[bin] ?? Number(bin);

const byBin = ([one], [other]) => binRank(one) - binRank(other);

function clearFilters(filters) {
  for (const key of Object.keys(filters)) filters[key] = "";
}

/* The controls show the filters, also those that a chart has set. */
function showFilters(bar, filters) {
  for (const control of bar.querySelectorAll("[data-filter]"))
    if (control !== document.activeElement) control.value = filters[control.dataset.filter];
  bar.querySelector(".clear").disabled = !Object.values(filters).some(Boolean);
}
