/* The page's report as objects. kernelinfo/render/html/dataset.py writes it. */
"use strict";

const DEMAND = ["wave_size", "vgprs", "sgprs", "lds_bytes", "scratch_bytes_per_lane",
  "accum_offset", "wgp_mode", "tg_split", "at_least", "dynamic_vgpr_block", "arch_vgprs", "agprs",
  "least_workgroup", "most_workgroup", "used_vgprs", "used_sgprs"];
const LAUNCH = ["workgroup_size", "assumption", "dynamic_lds_bytes", "trap_handler",
  "smallest_size"];
const OUTCOME = ["percent", "waves_per_simd", "limiters", "exact", "vgprs", "agprs", "sgprs"];

const INPUT = ["location", "kind", "target", "id", "compiler", "offset", "place", "library",
  "options"];

function reportOf(data) {
  const cases = data.cases.map(([target, demand, launch, outcome]) => ({
    target,
    demand: named(DEMAND, demand),
    launch: named(LAUNCH, launch),
    outcome: named(OUTCOME, outcome),
  }));
  const inputs = inputsOf(data);
  const titles = data.titles.map((row, index) => titleOf(row, data.briefs[index]));
  const used = data.used.map((row) => named(["vgprs", "agprs", "sgprs", "lds"], row));
  const spills = data.spills.map((row) => named(["vgprs", "sgprs", "scratch"], row));
  const findings = data.findings.map((row) =>
    named(["rule", "name", "severity", "message", "hint"], row));
  const keys = new Map();
  const kernels = data.kernels.map((row, index) => {
    const kernel = named(data.columns, row);
    const input = inputs[kernel.input];
    const found = kernel.case === null ? null : cases[kernel.case];
    const title = titles[kernel.title];
    const target = found ? found.target : input.target;
    return {
      index,
      key: keyed(`${title.symbol || title.name} ${target}`, keys),
      title,
      input,
      case: found,
      target,
      label: found && found.target !== input.target ? found.target : input.label,
      library: input.libraryLabel,
      options: input.options,
      used: used[kernel.used],
      spills: spills[kernel.spills],
      findings: kernel.findings.map((at) => findings[at]),
      compiler: kernel.compiler,
    };
  });
  return { ...data, kernels, inputs };
}

/* Files and members with the labels that tell them apart. */
function inputsOf(data) {
  const inputs = data.inputs.map((row) => named(INPUT, row));
  const libraries = libraryLabels(inputs.map(({ place, library }) => [place, library]));
  const targets = targetLabels(inputs.map(({ id }) => id));
  const shared = sharedBy(inputs.map(({ options }) => options).filter(({ length }) => length));
  return inputs.map((input, index) => ({
    ...input,
    libraryLabel: libraries[index],
    label: targets[index],
    options: input.options.filter((option) => !shared.has(option)).join(" "),
  }));
}

/* Details of a kernel for its page: source line, sentences on code and profile, facts. */
async function detailsOf(report, kernel) {
  const piece = piecesOf("details")[Math.floor(kernel.index / report.rows)];
  const [source, code, expected, facts] = (await readPiece(piece))[kernel.index % report.rows];
  return { source, code, expected, facts };
}

/* The occupancy of a kernel as compiled, by the page's model. */
function occupancyOfKernel(report, kernel) {
  if (!kernel.case) return null;
  const { target, demand, launch } = kernel.case;
  return occupancyOf(report.targets[target], demand, launch, report.targets);
}
