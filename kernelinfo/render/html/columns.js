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
    show: (kernel) => nameCell(kernel.title, addressWith({ kernel: kernel.key })) },
  { key: "target", label: "target", text: true, of: ({ target }) => target || "?" },
  { key: "size", label: "block",
    of: ({ case: found }) => (found ? found.launch.workgroup_size : -1),
    show: ({ case: found }) => blockOf(found) },
  { key: "vgprs", label: "VGPR", of: allocatedOrUsed("vgprs") },
  { key: "agprs", label: "AGPR", of: allocatedOrUsed("agprs") },
  { key: "sgprs", label: "SGPR", of: allocatedOrUsed("sgprs") },
  { key: "lds", label: "LDS", of: ldsAsked, show: (kernel) => sized(ldsAsked(kernel)) },
  { key: "scratch", label: "scratch", of: ({ spills }) => known(spills.scratch),
    show: ({ spills }) => sized(known(spills.scratch)) },
  { key: "waves", label: "waves/SIMD", rising: true, of: outcomeAt("waves_per_simd"),
    show: wavesCell },
  { key: "percent", label: "occ", rising: true, of: outcomeAt("percent"),
    show: ({ case: found }) => (found ? `${found.outcome.percent.toFixed(1)} %` : "?") },
  { key: "limiters", label: "limited by", text: true,
    of: (kernel) => limitersOf(kernel).join(" "), show: limitersCell },
  { key: "findings", label: "findings", text: true, of: ({ findings }) => -findings.length,
    show: ({ findings }) => findings.map((finding) =>
      html("span", { class: `finding ${finding.severity}`, title: finding.message },
        finding.rule)) },
];

function wavesCell({ case: found }) {
  if (!found) return "?";
  const { waves_per_simd: waves, exact, percent: share } = found.outcome;
  return html("span", { class: "level" }, (exact || !waves ? "" : "≤ ") + number(waves),
    html("span", { class: "meter", style: `--share:${share}%`, "aria-hidden": "true" }));
}

function limitersCell(kernel) {
  if (!launches(kernel)) return html("span", { class: "stuck" }, "cannot launch");
  return limitersOf(kernel).map((name) => keyOf(name, RESOURCES[name]));
}
