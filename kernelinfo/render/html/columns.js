/* The columns of the table of kernels. */
"use strict";

const outcomeAt = (key) => ({ case: found }) => (found ? known(found.outcome[key]) : -1);

/* Registers allocated by the hardware; if unknown, registers used by the code. */
const allocatedOrUsed = (key) => ({ case: found, used }) => known((found ? found.outcome : used)[key]);

const ldsAsked = ({ case: found, used }) =>
  known(found ? ldsOf(found.demand, found.launch) : used.lds);

const launches = ({ case: found }) => !found || found.outcome.waves_per_simd > 0;

/* Workitems per workgroup; – for launches without workgroups. */
function blockOf(found) {
  if (!found) return "?";
  const { assumption, workgroup_size: size } = found.launch;
  return assumption === "graphics-stage" ? "–" : String(size);
}

const COLUMNS = [
  { key: "name", label: "kernel", text: true, of: ({ title }) => title.brief,
    also: ({ options }) => options,
    show: (kernel, count) =>
      nameCell(kernel.title, addressWith({ kernel: kernel.key }), count, kernel.options) },
  { key: "library", label: "library", text: true, width: 10.5, of: ({ library }) => library,
    show: ({ library, input }) => html("span", { title: input.location }, breakable(library)) },
  { key: "target", label: "target", text: true, of: ({ label }) => label || "?" },
  { key: "size", label: "block", width: 4.2,
    of: ({ case: found }) => (found ? found.launch.workgroup_size : -1),
    show: ({ case: found }) => blockOf(found) },
  { key: "vgprs", label: "VGPR", width: 3.9, of: allocatedOrUsed("vgprs") },
  { key: "agprs", label: "AGPR", width: 3.9, of: allocatedOrUsed("agprs") },
  { key: "sgprs", label: "SGPR", width: 3.9, of: allocatedOrUsed("sgprs") },
  { key: "lds", label: "LDS", width: 5.4, of: ldsAsked, bytes: (kernel) => [ldsAsked(kernel)],
    show: (kernel, _, isKib) => bytesIn(isKib, ldsAsked(kernel)) },
  { key: "scratch", label: "scratch", width: 5.2, of: ({ spills }) => known(spills.scratch),
    bytes: ({ spills }) => [spills.scratch],
    show: ({ spills }, _, isKib) => bytesIn(isKib, spills.scratch) },
  { key: "waves", label: "waves/SIMD", width: 7.4, rising: true, of: outcomeAt("waves_per_simd"),
    also: ({ case: found }) => found?.outcome.exact, show: wavesCell },
  { key: "percent", label: "occ", width: 5.8, rising: true, of: outcomeAt("percent"),
    show: ({ case: found }) =>
      (found ? `${boundOf(found.outcome)}${found.outcome.percent.toFixed(1)} %` : "?") },
  { key: "limiters", label: "limited by", width: 8.8, text: true,
    of: (kernel) => limitersOf(kernel).join(" "), show: limitersCell },
  { key: "findings", label: "findings", width: 5.6, text: true,
    of: ({ findings }) => -findings.length,
    also: ({ findings }) => findings.map(({ rule }) => rule).join(),
    show: ({ findings }) => findings.map((finding) =>
      html("span", { class: `finding ${finding.severity}`, title: finding.message },
        finding.rule)) },
];

/* Columns of a report: the library if there are several; registers and findings if there are any. */
function columnsOf({ kernels, inputs }) {
  const isShown = {
    library: kernels.some(({ library }) => library),
    agprs: kernels.some((kernel) => allocatedOrUsed("agprs")(kernel)),
    scratch: kernels.some(({ spills }) => spills.scratch !== 0),
    findings: kernels.some(({ findings }) => findings.length),
  };
  return fitTargets(COLUMNS.filter(({ key }) => isShown[key] ?? true),
    inputs.map(({ label }) => label));
}

function wavesCell({ case: found }) {
  if (!found) return "?";
  const { waves_per_simd: waves, percent: share } = found.outcome;
  return html("span", { class: "level" }, boundOf(found.outcome) + number(waves),
    html("span", { class: "meter", style: `--share:${share}%`, "aria-hidden": "true" }));
}

function limitersCell(kernel) {
  if (!launches(kernel)) return html("span", { class: "stuck" }, "cannot launch");
  return limitersOf(kernel).map((name) => keyOf(name, RESOURCES[name]));
}
