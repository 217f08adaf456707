/* The outcome of a case: waves, limiters, next step, bounds and their reasons. */
"use strict";

function outcomeOf(now, before, kernel, report) {
  const { occupancy } = now;
  const bound = boundOf(occupancy);
  const groups = now.launch.assumption === "graphics-stage" ? ""
    : `${bound}${plural(occupancy.workgroups, "workgroup")} per ${occupancy.per} · `;
  const lines = [
    html("p", {},
      html("span", { class: "waves", "data-result": "waves" },
        bound + number(occupancy.waves_per_simd)),
      html("span", { class: "unit-name" }, " waves/SIMD"),
      html("span", { class: "share", "data-result": "percent" },
        bound + percent(occupancy.percent)),
      occupancy.obstacles.length ? html("span", { class: "limited" }, "cannot launch")
        : html("span", { class: "limited" }, "limited by ",
            occupancy.limiters.map((name) => keyOf(name, RESOURCES[name])))),
    html("p", { class: "quiet" },
      `${groups}${bound}${occupancy.waves} of ` +
      `${occupancy.wave_slots} waves · ${launched(now.launch)}`,
      compilerSaid(kernel, before, report)),
  ];
  if (now.next.length) lines.push(html("p", {}, html("b", {}, "next "), nextStep(now)));
  for (const reason of occupancy.obstacles)
    lines.push(html("p", { class: "error" }, `cannot launch: ${reason}`));
  for (const reason of occupancy.at_most_because)
    lines.push(html("p", { class: "quiet" }, `≤ ${reason}`));
  const cap = report.targets[occupancy.hardware].waves.dispatch_cap_per_cu;
  if (cap) lines.push(html("p", { class: "quiet" },
    `the runtime keeps to about ${cap} waves per CU on these parts, whatever the kernel uses`));
  if (occupancy.range && occupancy.range.min_percent < occupancy.range.max_percent)
    lines.push(html("p", { class: "quiet" }, rangeInWords(now)));
  if (before)
    lines.push(html("p", { class: "compiled" }, `what if; ${unchanged(report)}: ` +
      `${reached(before.occupancy)} on ${before.target}, limited by ` +
      limitersInWords(before.occupancy.limiters)));
  return lines;
}

/* The case before any slider moves, in words. */
const unchanged = (report) => (report.is_given ? "as given" : "as compiled");

function rangeInWords({ occupancy, launch }) {
  const { range } = occupancy;
  return `workgroups to ${launch.workgroup_size} give ${boundOf(occupancy)}` +
    `${percent(range.min_percent).replace(" %", "")}–${percent(range.max_percent)}: ` +
    `best ${range.best_workgroup_size}, worst ${range.worst_workgroup_size}`;
}

function compilerSaid(kernel, before, report) {
  if (before || !kernel.compiler) return null;
  const [waves, why] = kernel.compiler;
  return ` · the compiler said ${waves}: ${report.texts[why]}`;
}

/* The text for screen readers after a slider has moved. */
function inOneSentence({ occupancy }) {
  if (occupancy.obstacles.length) return "cannot launch";
  return `${reached(occupancy)}, ${boundOf(occupancy)}${percent(occupancy.percent)}, ` +
    `limited by ${limitersInWords(occupancy.limiters)}`;
}
