/* The next step, headroom and launch sizes: kernelinfo/model/headroom.py in the page. */
"use strict";

/* The most of each reducible resource that a kernel may use for so many waves. */
const MOST = {
  vgpr(target, demand, launch, waves) {
    const file = vgprFile(target, demand);
    const rounds = Math.ceil(waves / domainOf(target, demand.wgp_mode).simds);
    const share = Math.floor(file.per_simd / rounds);
    return Math.min(file.addressable, share - (share % file.granule));
  },
  sgpr(target, demand, launch, waves) {
    const sgprs = target.sgprs;
    if (sgprs.fixed_allocation) return 0;
    const rounds = Math.ceil(waves / domainOf(target, demand.wgp_mode).simds);
    const share = Math.floor(sgprs.per_simd / rounds) - trapSgprs(target, launch);
    const whole = Math.floor(share / sgprs.granule) * sgprs.granule;
    return Math.max(0, Math.min(sgprs.allocatable, whole));
  },
  lds(target, demand, launch, waves) {
    const workgroups = Math.ceil(waves / wavesOf(launch.workgroup_size, demand.wave_size));
    const share = Math.floor(domainOf(target, demand.wgp_mode).lds_bytes / workgroups);
    const granule = target.lds.granule_bytes;
    return Math.min(mostLdsOfAWorkgroup(target, demand), share - (share % granule));
  },
  scratch(target, demand, launch, waves) {
    const { cus_per_aperture: cus, aperture_bytes: aperture } = target.scratch;
    if (waves > domainOf(target, demand.wgp_mode).scratch_waves || !cus) return 0;
    const share = Math.floor(Math.floor(aperture / cus) / waves);
    return Math.floor((share - (share % target.scratch.granule_bytes)) / demand.wave_size);
  },
};

/* The maximum of each resource that the kernel exceeds for a wave or workgroup. */
function beyondOf(target, demand, launch) {
  const { agprs, sgprs, scratch } = target;
  let file = vgprFile(target, demand).addressable;
  const kinds = [demand.arch_vgprs ?? 0, demand.agprs ?? 0];
  if (agprs.file === "unified" && Math.max(...kinds) > agprs.addressable) {
    const [vgprs, more] = kinds.map((kind) => Math.min(kind, agprs.addressable));
    file = Math.min(file, vgprs + more);
  }
  const most = {
    vgpr: [demand.vgprs, file],
    sgpr: [sgprs.per_simd ? demand.sgprs : null, sgprs.allocatable],
    lds: [ldsOf(demand, launch), mostLdsOfAWorkgroup(target, demand)],
    scratch: [
      demand.scratch_bytes_per_lane, Math.floor(scratch.bytes_per_wave / demand.wave_size),
    ],
  };
  const beyond = Object.entries(most).filter(([, [asked, bound]]) => (asked ?? 0) > bound);
  return Object.fromEntries(beyond.map(([resource, [, bound]]) => [resource, bound]));
}

/* The most that each limiting resource may use for one more workgroup, or for the first. Empty if no
   reduction is enough. */
function nextSteps(target, demand, launch, bounds, waves) {
  const group = wavesOf(launch.workgroup_size, demand.wave_size);
  const beyond = beyondOf(target, demand, launch);
  const none = Object.keys(beyond).length > 0;
  const more = (none ? 0 : waves) + (demand.tg_split ? 1 : group);
  const binds = (bound) => none
    ? bound.resource in beyond || bound.waves < more
    : residentWaves(bound, demand, launch) === waves;
  const binding = bounds.filter((bound) => bound.waves !== null && binds(bound));
  if (binding.some((bound) => !(bound.resource in MOST))) return [];
  const most = {};
  for (const { resource } of binding)
    most[resource] = Math.min(
      MOST[resource](target, demand, launch, more), beyond[resource] ?? Infinity,
    );
  if (most.vgpr < 1 || most.sgpr < 1) return [];
  const staticLds = most.lds - launch.dynamic_lds_bytes;
  if (staticLds < 0) return [];
  const changed = {
    ...demand,
    vgprs: most.vgpr ?? demand.vgprs,
    sgprs: most.sgpr ?? demand.sgprs,
    lds_bytes: "lds" in most ? staticLds : demand.lds_bytes,
    scratch_bytes_per_lane: most.scratch ?? demand.scratch_bytes_per_lane,
  };
  const after = limitsOf(target, changed, launch).filter((bound) => bound.waves !== null);
  const reached = Math.min(...after.map((bound) => residentWaves(bound, changed, launch)));
  const share = reached / domainOf(target, demand.wgp_mode).simds;
  return binding.map((bound) => ({
    resource: bound.resource,
    at_most: most[bound.resource],
    change: most[bound.resource] - bound.used,
    waves_per_simd: share,
    percent: (100 * share) / target.waves.slots_per_simd,
  }));
}

/* Resources that the kernel can use in addition without losing a workgroup; null if unknown. */
function headroomOf(target, demand, launch, waves) {
  const none = waves === 0 || Object.keys(beyondOf(target, demand, launch)).length > 0;
  const free = (resource, asked) =>
    asked === null || none ? null : MOST[resource](target, demand, launch, waves) - asked;
  const limited = target.sgprs.per_simd && !target.sgprs.fixed_allocation;
  return {
    vgprs: free("vgpr", unpadded(demand).vgprs),
    sgprs: free("sgpr", limited ? unpadded(demand).sgprs : null),
    lds_bytes: free("lds", ldsOf(demand, launch)),
  };
}

/* The best and the worst possible launch size, the largest of equals; null if the size is fixed. */
function sizeRange(target, demand, launch, bounds) {
  const sure = !["declared-max", "hardware-max"].includes(launch.assumption);
  if (demand.tg_split || (sure && launch.smallest_size === null)) return null;
  const domain = domainOf(target, demand.wgp_mode);
  const counted = bounds.filter(
    (bound) => bound.waves !== null && !["lds", "barriers"].includes(bound.resource),
  );
  const waves = Math.min(...counted.map((bound) => bound.waves));
  const lds = bounds.find((bound) => bound.resource === "lds")?.workgroups ?? Infinity;
  const smallest = wavesOf(launch.smallest_size ?? 1, demand.wave_size);
  let worst = null;
  let best = null;
  for (let group = wavesOf(launch.workgroup_size, demand.wave_size); group >= smallest; group--) {
    const barriers = group > 1 ? domain.barriers : Infinity;
    const resident = Math.min(Math.floor(waves / group), barriers, lds) * group;
    const size = Math.min(group * demand.wave_size, launch.workgroup_size);
    if (size > target.waves.max_workgroup_size) continue;
    if (worst === null || resident < worst.resident) worst = { size, resident };
    if (best === null || resident > best.resident) best = { size, resident };
  }
  if (!best?.resident) return null;
  const slots = domain.simds * target.waves.slots_per_simd;
  return {
    min_percent: (100 * worst.resident) / slots,
    max_percent: (100 * best.resident) / slots,
    worst_workgroup_size: worst.size,
    best_workgroup_size: best.size,
  };
}
