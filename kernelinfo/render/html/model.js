/* Limits of each resource: kernelinfo/model/limits.py in the page, one function per resource.

   Objects have the field names of the Python classes: Target, Demand, Launch, Limit. Hardware
   numbers come with the page from targets.toml; this file has none. */
"use strict";

const align = (count, granule) => Math.ceil(count / granule) * granule;

const wavesOf = (workgroupSize, waveSize) => Math.ceil(workgroupSize / waveSize);

const isPadded = (demand) => demand.used_vgprs !== null || demand.used_sgprs !== null;

/* The demand of the code alone, without the descriptor's padding. */
const unpadded = (demand) => ({ ...demand, vgprs: demand.used_vgprs ?? demand.vgprs,
  sgprs: demand.used_sgprs ?? demand.sgprs, used_vgprs: null, used_sgprs: null });

/* The residency domain in WGP mode (true), CU mode (false) or the default (null). */
function domainOf(target, wgpMode) {
  const per = wgpMode ? "WGP" : "CU";
  const chosen = wgpMode === null ? undefined : target.domains.find((one) => one.per === per);
  return chosen || target.domains[0];
}

/* The register file for these waves. Dynamic VGPRs are allocated in blocks. */
function vgprFile(target, demand) {
  const file = target.vgprs.find((one) => one.wave_size === demand.wave_size);
  const block = demand.dynamic_vgpr_block;
  return block && file.most_dynamic_blocks ? { ...file, granule: block, addressable: block * file.most_dynamic_blocks } : file;
}

function limitOf(resource, [used, allocated, available, granule], waves, target, demand, launch) {
  const limit = { resource, used, allocated, available, granule };
  if (waves === null) return { ...limit, waves: null, workgroups: null, waves_per_simd: null };
  const group = wavesOf(launch.workgroup_size, demand.wave_size);
  const workgroups = Math.floor(waves / group);
  const resident = demand.tg_split ? waves : workgroups * group;
  const perSimd = resident / domainOf(target, demand.wgp_mode).simds;
  return { ...limit, waves, workgroups, waves_per_simd: perSimd };
}

function slotsLimit(target, demand, launch) {
  const group = wavesOf(launch.workgroup_size, demand.wave_size);
  const available = domainOf(target, demand.wgp_mode).simds * target.waves.slots_per_simd;
  return limitOf("slots", [group, group, available, 1], available, target, demand, launch);
}

function allocatedVgprs(target, demand) {
  if (demand.vgprs === null) return null;
  return align(Math.max(1, demand.vgprs), vgprFile(target, demand).granule);
}

function vgprLimit(target, demand, launch) {
  const allocated = allocatedVgprs(target, demand);
  if (allocated === null) return null;
  const file = vgprFile(target, demand);
  const simds = domainOf(target, demand.wgp_mode).simds;
  const waves = simds * Math.floor(file.per_simd / allocated);
  const shape = [unpadded(demand).vgprs, allocated, file.per_simd, file.granule];
  return limitOf("vgpr", shape, waves, target, demand, launch);
}

/* SGPRs allocated to a wave, without those of the trap handler. */
function allocatedSgprs(target, demand) {
  if (!target.sgprs.per_simd) return target.sgprs.granule;
  if (target.sgprs.fixed_allocation) return target.sgprs.fixed_allocation;
  return demand.sgprs === null ? null : align(Math.max(1, demand.sgprs), target.sgprs.granule);
}

const trapSgprs = (target, launch) => (launch.trap_handler ? target.sgprs.trap_handler : 0);

function sgprLimit(target, demand, launch) {
  const sgprs = target.sgprs;
  const wave = allocatedSgprs(target, demand);
  if (!sgprs.per_simd || wave === null) return null;
  const allocated = wave + trapSgprs(target, launch);
  const simds = domainOf(target, demand.wgp_mode).simds;
  const waves = simds * Math.floor(sgprs.per_simd / allocated);
  const shape = [unpadded(demand).sgprs ?? wave, allocated, sgprs.per_simd, sgprs.granule];
  return limitOf("sgpr", shape, waves, target, demand, launch);
}

function mostLdsOfAWorkgroup(target, demand) {
  return Math.min(target.lds.bytes_per_workgroup, domainOf(target, demand.wgp_mode).lds_bytes);
}

/* Bytes of LDS per workgroup, static and dynamic. */
function ldsOf(demand, launch) {
  return demand.lds_bytes === null ? null : demand.lds_bytes + launch.dynamic_lds_bytes;
}

function ldsLimit(target, demand, launch) {
  const asked = ldsOf(demand, launch);
  if (asked === null) return null;
  const pool = domainOf(target, demand.wgp_mode).lds_bytes;
  const allocated = align(asked, target.lds.granule_bytes);
  const shape = [asked, allocated, pool, target.lds.granule_bytes];
  const group = wavesOf(launch.workgroup_size, demand.wave_size);
  const waves = allocated ? Math.floor(pool / allocated) * group : null;
  return limitOf("lds", shape, waves, target, demand, launch);
}

function barriersLimit(target, demand, launch) {
  const group = wavesOf(launch.workgroup_size, demand.wave_size);
  if (group === 1 || demand.tg_split) return null;
  const available = domainOf(target, demand.wgp_mode).barriers;
  return limitOf("barriers", [1, 1, available, 1], available * group, target, demand, launch);
}

function scratchPerWave(target, demand) {
  const bytes = (demand.scratch_bytes_per_lane ?? 0) * demand.wave_size;
  return align(bytes, target.scratch.granule_bytes);
}

function scratchLimit(target, demand, launch) {
  if (!demand.scratch_bytes_per_lane) return null;
  const allocated = scratchPerWave(target, demand);
  const { cus_per_aperture: cus, aperture_bytes: aperture } = target.scratch;
  let waves = domainOf(target, demand.wgp_mode).scratch_waves;
  if (cus) waves = Math.min(waves, Math.floor(Math.floor(aperture / allocated) / cus));
  const granule = target.scratch.granule_bytes;
  const shape = [demand.scratch_bytes_per_lane, allocated, waves, granule];
  return limitOf("scratch", shape, waves, target, demand, launch);
}

const LIMITS = [slotsLimit, vgprLimit, sgprLimit, ldsLimit, barriersLimit, scratchLimit];

function limitsOf(target, demand, launch) {
  const found = LIMITS.map((limit) => limit(target, demand, launch));
  return found.filter((limit) => limit !== null);
}

/* Waves per domain that a limit allows, in whole workgroups if these stay together. */
function residentWaves(limit, demand, launch) {
  if (demand.tg_split) return limit.waves;
  return limit.workgroups * wavesOf(launch.workgroup_size, demand.wave_size);
}
