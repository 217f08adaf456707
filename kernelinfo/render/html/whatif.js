/* Sliders for other resource use; the model in the page computes the outcome. */
"use strict";

/* The case as compiled, and the case with the sliders' `changes`, which start empty. */
function caseWith(report, kernel, changes) {
  const { targets, lds_not_stated: unstated } = report;
  const compiled = kernel.case;
  const name = changes.target ?? compiled.target;
  let demand = demandOn(targets[compiled.target], targets[name], compiled.demand, kernel.used);
  let launch = compiled.launch;
  if (["vgpr", "sgpr", "lds"].some((one) => one in changes))
    demand = compiledAnew(targets[name], demand, launch, targets);
  if ("vgpr" in changes) demand = { ...demand, vgprs: changes.vgpr, used_vgprs: null,
    arch_vgprs: null, agprs: null };
  if ("sgpr" in changes) demand = { ...demand, sgprs: changes.sgpr, used_sgprs: null };
  if ("lds" in changes) {
    const reasons = demand.at_least.filter((reason) => reason !== unstated);
    demand = { ...demand, lds_bytes: changes.lds, at_least: reasons };
    launch = { ...launch, dynamic_lds_bytes: 0 };
  }
  if ("size" in changes)
    launch = { ...launch, workgroup_size: changes.size, assumption: "option", smallest_size: null };
  const occupancy = occupancyOf(targets[name], demand, launch, targets);
  const used = usedWith(kernel, changes);
  const spilled = spillsWith(kernel, changes);
  const isSpilling = occupancy.next.some(({ resource }) => spilled[resource]);
  const next = isSpilling ? [] : occupancy.next;
  return { target: name, demand, launch, occupancy, used, next };
}

/* Registers used by the code; null for a changed slider. */
function usedWith({ used }, changes) {
  const [vgpr, sgpr] = ["vgpr", "sgpr"].map((name) => name in changes || "target" in changes);
  return { ...used, ...(vgpr ? { vgprs: null } : {}), ...(sgpr ? { sgprs: null } : {}) };
}

/* Spills by resource; 0 for a changed slider. */
const spillsWith = ({ spills: { vgprs, sgprs } }, changes) =>
  ({ vgpr: "vgpr" in changes ? 0 : vgprs, sgpr: "sgpr" in changes ? 0 : sgprs });

/* Parameters of the address that hold the changes. */
const IN_ADDRESS = { target: "as", vgpr: "vgpr", sgpr: "sgpr", size: "size", lds: "lds" };
const NO_CHANGES = Object.fromEntries(Object.values(IN_ADDRESS).map((name) => [name, ""]));

/* The changes that the address states; others than numbers and known targets are left out. */
function changesInAddress(report, kernel) {
  const stated = readAddress();
  const changes = {};
  for (const [name, parameter] of Object.entries(IN_ADDRESS)) {
    const text = stated[parameter] ?? "";
    if (name !== "target" && /^\d{1,7}$/.test(text)) changes[name] = Number(text);
    else if (name === "target" && Object.hasOwn(report.targets, text) &&
        canMoveTo(report.targets[text], kernel.case.demand)) changes[name] = text;
  }
  return changes;
}

const rewriteChanges = (changes) => rewriteAddress({ ...NO_CHANGES,
  ...Object.fromEntries(Object.entries(changes).map(([name, value]) =>
    [IN_ADDRESS[name], String(value)])) });

const SLIDERS = [
  { variable: "vgpr", label: "VGPRs per lane", least: 1, step: () => 1 },
  { variable: "sgpr", label: "SGPRs per wave", least: 1, step: () => 1 },
  { variable: "size", label: "workgroup size", least: 1, step: (extent) => extent.granule },
  { variable: "lds", label: "LDS, bytes per workgroup", least: 0,
    step: (extent) => extent.granule },
];

const ASKED = {
  vgpr: ({ demand }) => unpadded(demand).vgprs,
  sgpr: ({ demand }) => unpadded(demand).sgprs,
  size: ({ launch }) => launch.workgroup_size,
  lds: ({ demand, launch }) => ldsOf(demand, launch),
};

/* A slider and a field for one number. Each change calls `choose(value)`. */
function sliderOf({ variable, label, least, step }, now, targets, choose) {
  const target = targets[now.target];
  const members = target.members.length ? target.members.map((name) => targets[name]) : [target];
  const chosen = ({ sgprs }) => sgprs.per_simd && !sgprs.fixed_allocation;
  if (variable === "sgpr" && !members.some(chosen)) return null;
  const extent = extentOf(variable, target, now.demand, targets);
  const asked = ASKED[variable](now);
  const value = asked ?? least;
  const entered = (event) => {
    const entry = Math.round(Number(event.target.value));
    if (event.target.value !== "" && entry >= least) choose(entry);
  };
  const id = `what-if-${variable}`;
  return html("div", { class: "slider" },
    html("label", { for: id }, label),
    html("input", { type: "range", min: variable === "size" ? extent.granule : least,
      max: extent.most, step: step(extent), value, "aria-label": `${label}, slider`,
      "data-slider": variable, oninput: entered }),
    html("input", { type: "number", id, min: least, value: asked === null ? "" : value,
      placeholder: "?", "data-number": variable, onchange: entered }));
}

/* Every target with its products, by family. */
function targetChoice(now, kernel, targets, choose) {
  const option = ({ name, products }) => html("option", {
    value: name,
    selected: name === now.target,
    disabled: !canMoveTo(targets[name], kernel.case.demand),
  }, `${name} · ${products}`);
  const all = Object.values(targets);
  const families = [...new Set(all.map(({ family }) => family))].map((family) =>
    html("optgroup", { label: family }, all.filter((one) => one.family === family).map(option)));
  return html("div", { class: "slider wide" },
    html("label", { for: "what-if-target" }, "target"),
    html("select", { id: "what-if-target", "data-choice": "target",
      onchange: (event) => choose(event.target.value) }, families));
}
