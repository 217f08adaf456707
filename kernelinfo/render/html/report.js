/* The page's report as objects. kernelinfo/render/html/dataset.py writes it. */
"use strict";

const DEMAND = ["wave_size", "vgprs", "sgprs", "lds_bytes", "scratch_bytes_per_lane",
  "accum_offset", "wgp_mode", "tg_split", "at_least", "dynamic_vgpr_block", "arch_vgprs", "agprs",
  "least_workgroup", "most_workgroup"];
const LAUNCH = ["workgroup_size", "assumption", "dynamic_lds_bytes", "trap_handler",
  "smallest_size"];
const OUTCOME = ["percent", "waves_per_simd", "limiters", "exact", "vgprs", "agprs", "sgprs"];

const INPUT = ["location", "kind", "target", "compiler", "offset"];

const named = (names, values) =>
  Object.fromEntries(names.map((name, index) => [name, values[index]]));

function readReport(text) {
  const data = JSON.parse(text);
  const cases = data.cases.map(([target, demand, launch, outcome]) => ({
    target,
    demand: named(DEMAND, demand),
    launch: named(LAUNCH, launch),
    outcome: named(OUTCOME, outcome),
  }));
  const inputs = data.inputs.map((row) => named(INPUT, row));
  const titles = data.titles.map(titleOf);
  const findings = data.findings.map((row) =>
    named(["rule", "name", "severity", "message", "hint"], row));
  const keys = new Map();
  const kernels = data.kernels.map((row, index) => {
    const kernel = named(data.columns, row);
    const [vgprs, agprs, sgprs, lds] = kernel.used;
    const [vgprSpills, sgprSpills, scratch] = kernel.spills;
    const input = inputs[kernel.input];
    const found = kernel.case === null ? null : cases[kernel.case];
    const title = titles[kernel.title];
    const target = found ? found.target : input.target;
    return {
      ...kernel,
      index,
      key: keyed(`${title.symbol || title.name} ${target}`, keys),
      title,
      input,
      case: found,
      target,
      used: { vgprs, agprs, sgprs, lds },
      spills: { vgprs: vgprSpills, sgprs: sgprSpills, scratch },
      findings: kernel.findings.map((at) => findings[at]),
    };
  });
  return { ...data, kernels, inputs };
}

/* A key that a kernel has in every build. Kernels with the same name and target are numbered. */
function keyed(name, counts) {
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  return count === 1 ? name : `${name} ${count}`;
}

/* The occupancy of a kernel as compiled, by the page's model. */
function occupancyOfKernel(report, kernel) {
  if (!kernel.case) return null;
  const { target, demand, launch } = kernel.case;
  return occupancyOf(report.targets[target], demand, launch, report.targets);
}
