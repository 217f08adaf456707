/* VGPRs against LDS of many kernels. Each point is marked by its limiter. */
"use strict";

const SCATTER = { height: 340, above: 32, beside: 30 };

/* The LDS axis is logarithmic because LDS ranges over four decades. A band below is for none. */
function ldsScale(most) {
  const floor = 128;
  const decades = Math.log2(Math.max(2 * floor, most) / floor);
  return (value) =>
    value <= 0 ? 0.04 : 0.1 + (0.9 * Math.max(0, Math.log2(value / floor))) / decades;
}

/* Kernels with the same point form one mark, whatever their target. */
function points(kernels) {
  const found = new Map();
  for (const kernel of kernels) {
    const { demand, launch, outcome } = kernel.case ?? {};
    if (!demand || demand.vgprs === null || demand.lds_bytes === null) continue;
    const { vgprs } = unpadded(demand);
    const limiter = chiefLimiter(outcome.limiters);
    const key = `${usesKey(kernel)}:${limiter}`;
    const point = found.get(key);
    if (point) point.kernels.push(kernel);
    else found.set(key, { vgprs, lds: ldsOf(demand, launch), limiter,
      kernels: [kernel] });
  }
  return [...found.values()];
}

function scatterFigure(kernels, report, choose) {
  const all = points(kernels);
  if (!all.length) return null;
  const { height, above, beside } = SCATTER;
  const width = columnWidth();
  const commonest = [...tally(kernels.filter((kernel) => kernel.case).map(({ case: found }) =>
    `${found.target} ${found.demand.wave_size}`))].sort((one, other) => other[1] - one[1])[0][0];
  const [name] = commonest.split(" ");
  const like = kernels.find(({ case: found }) =>
    found && `${found.target} ${found.demand.wave_size}` === commonest).case;
  const target = report.targets[report.targets[name].members[0] ?? name];
  const pool = domainOf(target, like.demand.wgp_mode).lds_bytes;
  const mostLds = Math.max(pool, ...all.map((point) => point.lds));
  const mostVgprs = Math.max(vgprFile(target, like.demand).addressable / 2,
    ...all.map((point) => point.vgprs));
  const across = ldsScale(mostLds);
  const frame = frameOf({
    width, height, above, beside, xMost: mostVgprs, yMost: 1,
    xTicks: binaryTicks(mostVgprs, 8).map((value) => [value, String(value)]),
    yTicks: [[across(0), "0"], ...[1, 4, 16, 64, 256].filter((kib) => kib * 1024 <= mostLds)
      .map((kib) => [across(kib * 1024), `${kib}K`])],
    xTitle: "VGPRs per lane", yTitle: "LDS per workgroup",
  });
  const lines = stepLines(target, like, frame, across, mostVgprs);
  // Marks are smaller if there are many.
  const shrunk = Math.min(1, Math.sqrt(400 / all.length));
  const marks = all.map((point) => pointMark(point, frame, across, shrunk, choose));
  const limiters = [...tally(all.map((point) => point.limiter)).keys()].sort();
  const label = `VGPRs against LDS of ${plural(kernels.length, "kernel")}: ` +
    limiters.map((limiter) => `${RESOURCES[limiter]} limits ` + all.filter((point) =>
      point.limiter === limiter).reduce((sum, point) => sum + point.kernels.length, 0)).join(", ");
  const several = new Set(kernels.map((kernel) => kernel.target)).size > 1;
  return html("figure", { class: "scatter" },
    html("figcaption", {}, html("b", {}, "VGPRs and LDS"),
      html("span", { class: "quiet" }, ` lines are the steps of ${name} in wave` +
        `${like.demand.wave_size}${several ? ", the commonest here" : ""}: waves/SIMD above, ` +
        "workgroups on the right; larger marks are more kernels")),
    drawing(width, height, label, frame.axes, lines, marks),
    html("p", { class: "keys" }, limiters.map((limiter) =>
      keyOf(limiter, limiter === "slots" ? "slots alone" : RESOURCES[limiter]))));
}

/* Lines at which one wave (VGPRs) or workgroup (LDS) more or less fits. */
function stepLines(target, { demand, launch }, frame, across, mostVgprs) {
  const simds = domainOf(target, demand.wgp_mode).simds;
  const pool = domainOf(target, demand.wgp_mode).lds_bytes;
  const drawn = [];
  let last = Infinity;
  for (let waves = 1; waves <= target.waves.slots_per_simd; waves++) {
    const at = MOST.vgpr(target, demand, launch, waves * simds);
    if (at > mostVgprs || at >= last) continue;
    const close = frame.x(last) - frame.x(at) < 13;
    last = at;
    drawn.push(svg("line", { x1: frame.x(at), x2: frame.x(at), y1: frame.top, y2: frame.bottom,
      class: "step" }));
    if (!close) drawn.push(textAt(frame.x(at), frame.top - 5, String(waves),
      { class: "tick middle step-label" }));
  }
  for (const groups of [1, 2, 4, 8, 16]) {
    const y = frame.y(across(pool / groups));
    drawn.push(svg("line", { x1: frame.left, x2: frame.right, y1: y, y2: y, class: "step" }),
      textAt(frame.right + 9, y + 3.5, String(groups), { class: "tick step-label" }));
  }
  return drawn;
}

function pointMark({ vgprs, lds, limiter, kernels }, frame, across, shrunk, choose) {
  const radius = Math.max(2, shrunk * Math.min(11, 3 + 1.1 * Math.log2(kernels.length)));
  const mark = markOf(limiter, frame.x(vgprs), frame.y(across(lds)), radius);
  const who = kernels.length === 1 ? kernels[0].title.brief.slice(0, 200)
    : plural(kernels.length, "kernel");
  mark.append(svg("title", {}, `${who}: ${vgprs} VGPRs, ${bytes(lds)} LDS, ${RESOURCES[limiter]}`));
  mark.addEventListener("click", () => {
    if (kernels.length === 1) location.hash = addressWith({ kernel: kernels[0].key });
    else choose({ uses: usesKey(kernels[0]) });
  });
  return mark;
}
