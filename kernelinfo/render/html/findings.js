/* Findings for the launch that the sliders choose. Rules about the launch run again here, as in
   kernelinfo/rules; findings about the code stay as compiled. */
"use strict";

const DECLARED = ["declared-max", "hardware-max"];

const limitOn = ({ occupancy }, resource) =>
  occupancy.limits.find((limit) => limit.resource === resource);

/* Rule → function that returns its findings: message, hint, severity if not the rule's. */
const LAUNCH_RULES = {
  KI001(now, { targets }) {
    const { occupancy, launch, demand } = now;
    const [obstacle] = occupancy.obstacles.filter((text) => !text.includes("LDS"));
    if (!obstacle) return [];
    if (otherSize(demand, launch.workgroup_size).length) {
      const { least_workgroup: least, most_workgroup: most } = demand;
      const which = least === most ? "exactly" : "at most";
      const refused = `is refused: compiled for ${which} ${most}`;
      return [{ message: `a workgroup of ${launch.workgroup_size} ${refused}`,
        hint: "launch as compiled, or compile for this size" }];
    }
    const message = `a workgroup of ${launch.workgroup_size} cannot start: ${obstacle}`;
    const bounded = "launch smaller ones, or bound the registers for this size " +
      "with a launch bound";
    if (!DECLARED.includes(launch.assumption)) return [{ message, hint: bounded }];
    if (!occupancy.range && !demand.tg_split)
      return [{ message, hint: "nor can one of any other size" }];
    const rooms = occupancy.limits
      .filter(({ resource }) => !["lds", "barriers"].includes(resource))
      .map(({ waves }) => waves);
    const most = Math.min(Math.min(...rooms) * demand.wave_size,
      targets[now.target].waves.max_workgroup_size);
    return [{ message, hint: `smaller ones, up to ${most}, can`, severity: "warning" }];
  },
  KI002({ occupancy }) {
    const hint = "use less, or a target that has more";
    return occupancy.obstacles.filter((text) => text.includes("LDS"))
      .map((message) => ({ message, hint }));
  },
  KI203(now) {
    const { occupancy } = now;
    const limit = limitOn(now, "lds");
    const alone = String(occupancy.limiters) === "lds";
    if (!limit || !alone || !occupancy.workgroups) return [];
    const others = occupancy.limits
      .filter((other) => other !== limit && other.workgroups !== null)
      .map(({ workgroups }) => workgroups);
    const fit = Math.min(Math.floor(limit.available / limit.used), ...others);
    if (fit <= occupancy.workgroups) return [];
    const message = `${limit.used} B of LDS are rounded up to ${limit.allocated}: ` +
      `${occupancy.workgroups} workgroups per ${occupancy.per} fit; without rounding ${fit} would`;
    const hint = `use at most ${Math.floor(limit.used / limit.granule) * limit.granule} B`;
    return [{ message, hint, severity: occupancy.workgroups > MANY_WORKGROUPS ? "note" : null }];
  },
  KI204({ occupancy, launch }) {
    const { vgprs, lds_bytes: lds } = occupancy.allocated;
    const others = occupancy.limiters.filter((name) => name !== "scratch");
    const full = occupancy.obstacles.length || occupancy.range || occupancy.percent === 100;
    if (String(others) !== "slots" || vgprs === null || lds === null || full) return [];
    return [{
      message: `workgroups of ${launch.workgroup_size} fill ${occupancy.waves} of ` +
        `${occupancy.wave_slots} wave slots`,
      hint: "launch a size whose waves divide the slots evenly",
      severity: launch.assumption === "option" ? "note" : "warning",
    }];
  },
  KI205({ demand, launch }) {
    const { workgroup_size: size, assumption } = launch;
    const busy = size % demand.wave_size;
    if (DECLARED.includes(assumption) || !busy || size === 1) return [];
    const message = `workgroups of ${size} leave ${demand.wave_size - busy} of ` +
      `${demand.wave_size} lanes of their last wave idle`;
    return [{ message, hint: `launch a multiple of ${demand.wave_size}` }];
  },
};

/* Above this number of resident workgroups, one more hardly counts. */
const MANY_WORKGROUPS = 4;

/* Findings of a case; `changed` is false if the launch is the compiled one. */
function findingsAt(now, kernel, changed, report) {
  if (!changed) return kernel.findings;
  const kept = kernel.findings.filter(({ rule }) => !(rule in LAUNCH_RULES))
    .map((finding) => ({ ...finding, asCompiled: true }));
  const anew = report.rules.filter(([rule]) => rule in LAUNCH_RULES)
    .flatMap(([rule, name, severity, fixed]) => LAUNCH_RULES[rule](now, report).map((found) => ({
      rule, name, message: found.message, hint: found.hint ?? "",
      severity: fixed ? severity : found.severity ?? severity,
    })));
  return [...anew, ...kept].sort((one, other) => compare(one.rule, other.rule));
}

function findingList(findings) {
  if (!findings.length) return [];
  const items = findings.map((finding) =>
    html("li", { class: finding.severity },
      html("span", { class: "severity" }, finding.severity), " ",
      html("b", {}, finding.rule), ` ${finding.message}`,
      finding.hint ? html("span", { class: "quiet" }, `; ${finding.hint}`) : null,
      finding.asCompiled ? html("span", { class: "quiet" }, " · as compiled") : null));
  return [html("ul", { class: "findings" }, items),
    html("p", { class: "keys" }, `kernelinfo explain ${findings[0].rule} says more of a rule`)];
}
