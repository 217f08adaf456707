/* The filters of a fleet, and the kernels that pass them. */
"use strict";

const UNKNOWN = "?";

/* Whole waves/SIMD of a kernel. Less than 1 is not 0: a kernel with 0 cannot start. */
function wavesBin(kernel) {
  if (!kernel.case) return UNKNOWN;
  const waves = kernel.case.outcome.waves_per_simd;
  if (waves === 0) return "0";
  return waves < 1 ? "<1" : String(Math.floor(waves));
}

const limitersOf = (kernel) => (kernel.case ? kernel.case.outcome.limiters : []);

const isSpilling = ({ spills }) => Boolean(spills.vgprs || spills.sgprs);

/* Features of single kernels; each rule with findings adds one. */
const TRAITS = {
  spilling: ["spilling", isSpilling],
  scratch: ["with scratch", ({ spills }) => Boolean(spills.scratch)],
  findings: ["with findings", ({ findings }) => findings.length > 0],
  bounds: ["upper bounds (≤)", (kernel) => kernel.case && !kernel.case.outcome.exact],
  stuck: ["that cannot launch", (kernel) => kernel.case?.outcome.waves_per_simd === 0],
  unknown: ["of unknown target", (kernel) => !kernel.case],
};

function accepts(filters, kernel) {
  const { name, library, target, limiter, waves, trait, uses } = filters;
  return (!name || kernel.title.sought.includes(name)) &&
    (!library || kernel.library === library) &&
    (!target || isOfTarget(kernel.label, target)) &&
    (!limiter || limitersOf(kernel).includes(limiter)) &&
    (!waves || wavesBin(kernel) === waves) &&
    (!uses || usesKey(kernel) === uses) &&
    (!trait || (TRAITS[trait] ? TRAITS[trait][1](kernel)
      : kernel.findings.some((finding) => finding.rule === trait)));
}

/* Use of the two resources that programmers trade: VGPRs and LDS. */
function usesKey({ case: found }) {
  return found ? `${unpadded(found.demand).vgprs}:${ldsOf(found.demand, found.launch)}` : null;
}

/* Each choice with the number of kernels that it leaves. */
function filterBar(report, filters, changed) {
  const { kernels } = report;
  const { search, choice, clear } = controlsOf(filters, changed);
  const limiters = [...tally(kernels.flatMap(limitersOf))];
  const waves = [...tally(kernels.map(wavesBin))].sort(byBin);
  const rules = [...tally(kernels.flatMap(({ findings }) =>
    [...new Set(findings.map((finding) => `${finding.rule} ${finding.name}`))]))].sort();
  const traits = Object.entries(TRAITS).map(([key, [text, has]]) =>
    [key, text, kernels.filter(has).length]);
  return barOf(
    search,
    libraryChoice(kernels, choice),
    choice("target", "target", targetChoices(kernels.map(({ label }) => label))),
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
