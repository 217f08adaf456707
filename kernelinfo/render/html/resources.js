/* A table of the limit of each resource, with its calculation. */
"use strict";

function resourceTable({ occupancy, launch }) {
  const rows = occupancy.limits.map((limit, index) => {
    const binding = occupancy.limiters.includes(limit.resource);
    const { resource } = limit;
    const allows = limit.waves_per_simd === null ? "no limit" : wavesPerSimd(limit.waves_per_simd);
    return { mark: binding, cells: [
      keyOf(resource, resource === "slots" ? "wave slots" : RESOURCES[resource]),
      resource === "slots" ? `${limit.used} a workgroup` : bare(resource, limit.used),
      allocatedCell(limit, occupancy),
      outOf(limit, occupancy),
      html("span", {}, allows, binding ? html("b", { title: "limits" }, " ◄") : null),
      slackOf(limit, occupancy.unpadded[index], occupancy, launch),
    ] };
  });
  return tableOf("What each resource allows",
    ["resource", "used", "allocated", "out of", "allows", "slack"], rows, " nn  ");
}

function allocatedCell(limit, { allocated }) {
  const amounts = {
    slots: "",
    vgpr: `${limit.allocated} (by ${limit.granule})`,
    sgpr: allocated.trap_sgprs
      ? `${limit.allocated - allocated.trap_sgprs} + ${allocated.trap_sgprs} ¹` : limit.allocated,
    lds: limit.allocated ? `${bytes(limit.allocated)} (by ${bytes(limit.granule)})` : "0",
    barriers: limit.allocated,
    scratch: `${bytes(limit.allocated)} a wave`,
  };
  return String(amounts[limit.resource]);
}

const outOf = ({ resource, available }, { per }) => ({
  slots: `${available} per ${per}`,
  vgpr: `${available} per lane of a SIMD`,
  sgpr: `${available} per SIMD`,
  lds: `${bytes(available)} per ${per}`,
  barriers: `${available} per ${per}`,
  scratch: `${available} waves per ${per}`,
})[resource];

/* The free amount and the next step; `alone` is the limit without padding. */
function slackOf(limit, alone, occupancy, launch) {
  const { headroom, next } = occupancy;
  if (limit.resource === "slots") return ASSUMED[launch.assumption];
  const parts = [];
  if (alone.waves_per_simd !== limit.waves_per_simd)
    parts.push(`padded, else ${wavesPerSimd(alone.waves_per_simd)}`);
  const free = { vgpr: headroom.vgprs, sgpr: headroom.sgprs, lds: headroom.lds_bytes };
  if (free[limit.resource] > 0) parts.push(`+${bare(limit.resource, free[limit.resource])} free`);
  const step = next.length === 1 && next[0].resource === limit.resource ? next[0] : null;
  if (step)
    parts.push(`${change(step.resource, step.change)} gives ${wavesPerSimd(step.waves_per_simd)}`);
  return parts.join("; ");
}

function footnote({ occupancy }) {
  const trap = occupancy.limits.some((limit) => limit.resource === "sgpr") &&
    occupancy.allocated.trap_sgprs;
  return html("p", { class: "quiet" }, trap
    ? `¹ ${trap} SGPRs for the trap handler that ROCm installs; --no-trap-handler leaves them out`
    : "");
}
