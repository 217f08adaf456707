/* The occupancy: kernelinfo/model/__init__.py, curves.py and Kernel.on in the page. */
"use strict";

/* Resources above the maximum of a wave or workgroup of any size, in words. */
function tooMuch(target, demand, launch) {
  const found = [];
  const beyond = (asked, most, text) => asked > most && found.push(text(most, asked));
  const { agprs: { addressable }, sgprs, scratch } = target;
  beyond(ldsOf(demand, launch) ?? 0, mostLdsOfAWorkgroup(target, demand),
    (most, asked) => `a workgroup has at most ${most} bytes of LDS, not ${asked}`);
  beyond(demand.vgprs ?? 0, vgprFile(target, demand).addressable,
    (most, asked) => `a wave has at most ${most} VGPRs, not ${asked}`);
  if (addressable) {
    beyond(demand.arch_vgprs ?? 0, addressable,
      (most, asked) => `a wave has at most ${most} architectural VGPRs, not ${asked}`);
    beyond(demand.agprs ?? 0, addressable,
      (most, asked) => `a wave has at most ${most} AGPRs, not ${asked}`);
  }
  if (sgprs.per_simd)
    beyond(demand.sgprs ?? 0, sgprs.allocatable,
      (most, asked) => `a wave has at most ${most} SGPRs, not ${asked}`);
  beyond(scratchPerWave(target, demand), scratch.bytes_per_wave,
    (most) => `a wave has at most ${most} bytes of scratch`);
  return found;
}

/* The sizes that the code is compiled for, in words, if this size is not one of them. */
function otherSize({ least_workgroup: least, most_workgroup: most }, size) {
  if (most === null || (least <= size && size <= most)) return [];
  const which = least === most ? "exactly" : "at most";
  return [`the code is compiled for workgroups of ${which} ${most} (its launch bound)`];
}

/* The reason why no workgroup of this launch can start, in words. */
function obstaclesOf(target, demand, launch, bounds) {
  const { workgroup_size: size } = launch;
  const found = [...otherSize(demand, size), ...tooMuch(target, demand, launch)];
  const most = target.waves.max_workgroup_size;
  if (size > most) found.unshift(`a workgroup has at most ${most} workitems, not ${size}`);
  if (found.length) return found;
  const group = wavesOf(size, demand.wave_size);
  return bounds
    .filter((bound) => bound.workgroups === 0)
    .map(({ resource, waves: room }) =>
      `${resource}: room for ${room} of the ${group} waves of a workgroup`);
}

/* The reasons why the true number may be lower, in words. */
function atMostBecause(target, demand, launch, bounds) {
  const reasons = [...demand.at_least];
  const unknown = {
    VGPRs: demand.vgprs,
    SGPRs: target.sgprs.per_simd ? demand.sgprs : 0,
    LDS: demand.lds_bytes,
    scratch: demand.scratch_bytes_per_lane,
  };
  const missing = Object.keys(unknown).filter((name) => unknown[name] === null);
  if (missing.length) reasons.push(`the input does not say: ${missing.join(", ")}`);
  if (target.caveat) reasons.push(target.caveat);
  if (demand.dynamic_vgpr_block)
    reasons.push("VGPRs are dynamic: this is how many waves start, before any takes more");
  const domain = domainOf(target, demand.wgp_mode);
  const group = wavesOf(launch.workgroup_size, demand.wave_size);
  if (group % domain.simds && domain.simds % group)
    reasons.push(`${group} waves do not spread evenly over ${domain.simds} SIMDs: ` +
      "counted as if they did, nobody has measured it");
  if (bounds.some((one) => one.resource === "scratch" && one.available < domain.scratch_waves))
    reasons.push("the room for scratch depends on the device: " +
      `${target.scratch.cus_per_aperture} CUs to an aperture are assumed`);
  return reasons;
}

function allocatedOf(target, demand, launch) {
  const vgprs = allocatedVgprs(target, demand);
  let [archVgprs, agprs] = [vgprs, vgprs === null ? null : 0];
  if (target.agprs.file === "separate") {
    agprs = vgprs; // gfx908 allocates equal numbers of both
  } else if (target.agprs.file === "unified") {
    const split = vgprs !== null && demand.accum_offset !== null;
    archVgprs = split ? Math.min(vgprs, demand.accum_offset) : null;
    agprs = split ? vgprs - archVgprs : null;
  }
  const lds = ldsOf(demand, launch);
  return {
    vgprs,
    arch_vgprs: archVgprs,
    agprs,
    sgprs: allocatedSgprs(target, demand),
    trap_sgprs: trapSgprs(target, launch),
    lds_bytes: lds === null ? null : align(lds, target.lds.granule_bytes),
  };
}

/* Waves for which every resource has room. */
const wavesWithin = (bounds, demand, launch) => Math.min(...bounds
  .filter((bound) => bound.waves !== null)
  .map((bound) => residentWaves(bound, demand, launch)));

/* The demand to change a number of: without padding, which a compiler makes anew for the new number.
   Padding that costs waves stays: it is not made for the numbers of the kernel. */
function compiledAnew(target, demand, launch, targets) {
  if (!isPadded(demand)) return demand;
  const [padded, alone] = [demand, unpadded(demand)]
    .map((one) => occupancyOf(target, one, launch, targets).waves);
  return padded === alone ? unpadded(demand) : demand;
}

/* Occupancy of a demand on a target under one launch. `targets` has members of generic targets. */
function occupancyOf(target, demand, launch, targets) {
  if (target.members.length) return bestMember(target, demand, launch, targets);
  const domain = domainOf(target, demand.wgp_mode);
  const waveSlots = domain.simds * target.waves.slots_per_simd;
  const bounds = limitsOf(target, demand, launch);
  const waves = wavesWithin(bounds, demand, launch);
  // The code alone, if its padding costs no wave: less of what limits it ends the padding, too.
  const alone = limitsOf(target, unpadded(demand), launch);
  const costly = wavesWithin(alone, demand, launch) !== waves;
  const [code, byCode] = costly ? [demand, bounds] : [unpadded(demand), alone];
  const fixed = costly || otherSize(demand, launch.workgroup_size).length > 0;
  const obstacles = obstaclesOf(target, demand, launch, bounds);
  const placed = obstacles.length ? 0 : waves;
  const reasons = atMostBecause(target, demand, launch, bounds);
  return {
    target: target.name,
    hardware: target.name,
    launch,
    per: domain.per,
    simds: domain.simds,
    wave_slots: waveSlots,
    workgroups: Math.floor(placed / wavesOf(launch.workgroup_size, demand.wave_size)),
    waves: placed,
    waves_per_simd: placed / domain.simds,
    percent: (100 * placed) / waveSlots,
    obstacles,
    at_most_because: reasons,
    exact: !reasons.length,
    allocated: allocatedOf(target, demand, launch),
    limits: bounds,
    unpadded: alone,
    limiters: byCode
      .filter((bound) => bound.waves !== null && residentWaves(bound, demand, launch) === waves)
      .map((bound) => bound.resource),
    next: fixed ? [] : nextSteps(target, code, launch, byCode, waves),
    headroom: headroomOf(target, demand, launch, waves),
    range: tooMuch(target, demand, launch).length ? null
      : sizeRange(target, demand, launch, bounds),
  };
}

/* Code for a generic target runs on one of its devices: the best device is an upper bound. */
function bestMember(target, demand, launch, targets) {
  const members = target.members.map((name) => occupancyOf(targets[name], demand, launch, targets));
  const best = members.reduce((most, one) => (one.percent > most.percent ? one : most));
  const reason = `${target.name} runs on several targets: this is the best of them, ${best.target}`;
  const reasons = [reason, ...best.at_most_because];
  return { ...best, target: target.name, at_most_because: reasons, exact: false };
}

const VARIABLES = {
  vgpr: {
    granule: (target, demand) => vgprFile(target, demand).granule,
    most: (target, demand) => vgprFile(target, demand).addressable,
    set: (value, demand, launch) => [{ ...demand, vgprs: value, used_vgprs: null }, launch],
  },
  sgpr: {
    granule: (target) => target.sgprs.granule,
    most: (target) => target.sgprs.allocatable,
    set: (value, demand, launch) => [{ ...demand, sgprs: value, used_sgprs: null }, launch],
  },
  lds: {
    granule: (target) => target.lds.granule_bytes,
    most: mostLdsOfAWorkgroup,
    set: (value, demand, launch) =>
      [{ ...demand, lds_bytes: value }, { ...launch, dynamic_lds_bytes: 0 }],
  },
  size: {
    granule: (target, demand) => demand.wave_size,
    most: (target) => target.waves.max_workgroup_size,
    set: (value, demand, launch) =>
      [demand, { ...launch, workgroup_size: value, smallest_size: null }],
  },
};

/* Granule and maximum of a variable over all devices of the target. */
function extentOf(variable, target, demand, targets) {
  const hardware = target.members.length ? target.members.map((name) => targets[name]) : [target];
  const { granule, most } = VARIABLES[variable];
  return {
    granule: Math.min(...hardware.map((one) => granule(one, demand))),
    most: Math.max(...hardware.map((one) => most(one, demand))),
  };
}

/* Points at each hardware granule. Values below a point behave as the point. */
function curveOf(variable, target, demand, launch, targets) {
  const { granule, most } = extentOf(variable, target, demand, targets);
  const changed = variable === "size" ? demand : compiledAnew(target, demand, launch, targets);
  const values = [];
  for (let at = variable === "lds" ? 0 : granule; at < most; at += granule) values.push(at);
  return [...values, most].map((at) => {
    const asked = VARIABLES[variable].set(at, changed, launch);
    return { at, occupancy: occupancyOf(target, ...asked, targets) };
  });
}

/* VGPRs and AGPRs as the hardware counts them together, per lane. */
function totalVgprs({ agprs: { file, offset_granule: granule } }, archVgprs, agprs) {
  return file === "unified" && agprs ? align(archVgprs, granule) + agprs
    : Math.max(archVgprs, agprs);
}

/* True if the target has the kernel's wave size and register kinds. */
function canMoveTo(target, demand) {
  return target.vgprs.some((file) => file.wave_size === demand.wave_size) &&
    !(demand.agprs && target.agprs.file === "none");
}

/* The demand of the same registers on another target, without the descriptor's padding. */
function demandOn(own, target, compiled, used) {
  if ([own.name, ...own.members].includes(target.name)) return compiled;
  const demand = { ...unpadded(compiled), sgprs: used.sgprs ?? compiled.sgprs,
    tg_split: compiled.tg_split && target.tg_split };
  const { arch_vgprs: archVgprs, agprs } = demand;
  const { file, offset_granule: granule } = target.agprs;
  if (archVgprs !== null && agprs !== null) {
    const offset = file === "unified" ? align(Math.max(1, archVgprs), granule) : null;
    return { ...demand, vgprs: totalVgprs(target, archVgprs, agprs), accum_offset: offset };
  }
  if (own.agprs.file === file) return { ...demand, vgprs: used.vgprs ?? demand.vgprs };
  return { ...demand, vgprs: null, accum_offset: null };
}
