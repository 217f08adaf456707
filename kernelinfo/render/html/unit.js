/* A picture of one CU or WGP: wave slots by workgroup, used register files and LDS. */
"use strict";

const HUES = 8;
const ROW = 46;

/* The workgroup of each wave on each SIMD, spread as evenly as possible. */
function dealt(occupancy, demand) {
  const group = wavesOf(occupancy.launch.workgroup_size, demand.wave_size);
  const simds = Array.from({ length: occupancy.simds }, () => []);
  for (let wave = 0; wave < occupancy.waves; wave++)
    simds[wave % occupancy.simds].push(Math.floor(wave / group));
  return simds;
}

function unitFigure({ demand, occupancy }, used, width) {
  const simds = dealt(occupancy, demand);
  const limits = named(occupancy.limits.map((limit) => limit.resource), occupancy.limits);
  const stacked = width < 620;
  const left = 52;
  const room = width - left;
  const slotsEnd = stacked ? width : left + room * 0.42;
  const filesStart = stacked ? left : slotsEnd + 20;
  const rowHeight = stacked ? ROW + 30 : ROW;
  const heading = (x, text) => textAt(x, 12, text, { class: "axis" });
  const rows = simds.map((waves, simd) => {
    const top = 24 + simd * rowHeight;
    const below = stacked ? top + 30 : top;
    return [
      textAt(0, top + 17, `SIMD ${simd}`, { class: "tick" }),
      slotCells(waves, occupancy.wave_slots / occupancy.simds, left, slotsEnd, top),
      vgprBar(waves, limits.vgpr, occupancy.allocated, used, filesStart, width, below),
      sgprBar(waves, limits.sgpr, occupancy.allocated, used, filesStart, width, below + 20),
    ];
  });
  const bottom = 24 + occupancy.simds * rowHeight + 4;
  const height = bottom + (limits.lds ? 40 : 0);
  const files = fileTitle(limits, occupancy.allocated);
  const headings = stacked
    ? [heading(left, files)]
    : [heading(left, `${occupancy.wave_slots / occupancy.simds} wave slots`),
       heading(filesStart, files)];
  const bound = boundOf(occupancy);
  const label = `One ${occupancy.per}: ${bound}${plural(occupancy.workgroups, "workgroup")}, ` +
    `${bound}${occupancy.waves} of ${occupancy.wave_slots} wave slots taken`;
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": label, class: "unit" },
    hatching("waste"), headings, rows,
    limits.lds ? ldsBar(occupancy, limits.lds, left, width, bottom) : null);
}

/* If AGPRs have their own file, a wave gets as many AGPRs as VGPRs. */
function fileTitle(limits, { vgprs, arch_vgprs: arch, agprs }) {
  const twice = vgprs !== null && vgprs === arch && vgprs === agprs ? ", and as many AGPRs" : "";
  return [limits.vgpr && `${limits.vgpr.available} VGPRs per lane${twice}`,
    limits.sgpr && `below ${limits.sgpr.available} SGPRs`].filter(Boolean).join(", ");
}

function slotCells(waves, slots, left, right, top) {
  const pitch = (right - left) / slots;
  return Array.from({ length: slots }, (_, slot) => {
    const workgroup = waves[slot];
    const taken = workgroup !== undefined;
    const box = { x: left + slot * pitch, y: top, width: pitch - 2, height: 26, rx: 3 };
    const middle = box.x + box.width / 2;
    return svg("g", {},
      svg("rect", { ...box, class: taken ? `group hue${workgroup % HUES}` : "empty" }),
      taken && pitch > 13
        ? textAt(middle, top + 17, String(workgroup + 1), { class: "inside middle" }) : null,
      taken ? svg("title", {}, `a wave of workgroup ${workgroup + 1}`) : null);
  });
}

/* A bar of `whole` units. Each owner has `each` units, divided into `parts` [size, kind, title]. */
function filledBar(owners, whole, each, parts, left, right, top, height) {
  const scale = (right - left) / whole;
  return svg("g", {},
    svg("rect", { x: left, y: top, width: right - left, height, class: "empty" }),
    owners.map((owner, index) => {
      let at = left + index * each * scale;
      return parts.filter(([size]) => size > 0).map(([size, kind, title]) => {
        const rect = svg("rect", { x: at, y: top, width: size * scale, height,
          class: `group hue${owner % HUES} ${kind}` });
        const over = kind === "waste"
          ? svg("rect", { x: at, y: top, width: size * scale, height, fill: "url(#waste)" }) : null;
        at += size * scale;
        return svg("g", {}, rect, over, svg("title", {}, `workgroup ${owner + 1}: ${title}`));
      });
    }),
    owners.map((_, index) => svg("line", { x1: left + (index + 1) * each * scale,
      x2: left + (index + 1) * each * scale, y1: top, y2: top + height, class: "parting" })));
}

function vgprBar(waves, limit, allocated, used, left, right, top) {
  if (!limit) return null;
  const accumulation = allocated.agprs !== null && allocated.arch_vgprs !== limit.allocated
    ? Math.max(0, Math.min(limit.used - allocated.arch_vgprs, allocated.agprs)) : 0;
  const asked = Math.min(used.vgprs ?? limit.used, limit.used);
  const parts = [
    [Math.max(0, asked - accumulation), "group", `${asked} VGPRs used`],
    [Math.min(accumulation, asked), "agprs", `${accumulation} of them AGPRs`],
    [limit.allocated - asked, "waste", `${limit.allocated - asked} VGPRs allocated and not used`],
  ];
  return filledBar(waves, limit.available, limit.allocated, parts, left, right, top, 18);
}

function sgprBar(waves, limit, allocated, used, left, right, top) {
  if (!limit) return null;
  const own = limit.allocated - allocated.trap_sgprs;
  const asked = Math.min(used.sgprs ?? limit.used, own);
  const parts = [
    [asked, "group", `${asked} SGPRs used`],
    [own - asked, "waste", `${own - asked} SGPRs allocated and not used`],
    [allocated.trap_sgprs, "trap", `${allocated.trap_sgprs} SGPRs for the trap handler`],
  ];
  return filledBar(waves, limit.available, limit.allocated, parts, left, right, top, 7);
}

function ldsBar(occupancy, limit, left, right, top) {
  const owners = Array.from({ length: occupancy.workgroups }, (_, index) => index);
  const parts = [
    [limit.used, "group", `${bytes(limit.used)} of LDS`],
    [limit.allocated - limit.used, "waste", `${bytes(limit.allocated - limit.used)} of rounding`],
  ];
  return svg("g", {},
    textAt(0, top + 17, "LDS", { class: "tick" }),
    filledBar(limit.allocated ? owners : [], limit.available, limit.allocated, parts, left, right,
      top + 4, 18),
    textAt(right, top + 36, `${bytes(limit.available)} per ${occupancy.per}`,
      { class: "axis end" }));
}

/* The picture in words, for screen readers. */
function unitCaption({ occupancy }, used) {
  const parts = [
    `${boundOf(occupancy)}${plural(occupancy.workgroups, "workgroup")}, ` +
      `${boundOf(occupancy)}${occupancy.waves} of ` +
      `${plural(occupancy.wave_slots, "wave")}`,
  ];
  for (const limit of occupancy.limits) {
    if (limit.resource === "vgpr") {
      const idle = limit.allocated - Math.min(used.vgprs ?? limit.used, limit.used);
      if (idle) parts.push(`${idle} of ${limit.allocated} VGPRs a wave allocated and not used`);
    } else if (limit.resource === "sgpr" && occupancy.allocated.trap_sgprs) {
      parts.push(`${occupancy.allocated.trap_sgprs} SGPRs a wave for the trap handler`);
    } else if (limit.resource === "lds" && limit.allocated > limit.used) {
      parts.push(`${bytes(limit.allocated - limit.used)} of LDS a workgroup is rounding`);
    }
  }
  return parts.join(" · ");
}

function unitKey({ occupancy }, used) {
  const swatch = (kind, text) => html("span", { class: "key" },
    html("span", { class: `swatch ${kind}` }), text);
  return html("p", { class: "keys" },
    swatch("hue0", "used; one colour a workgroup"),
    used.agprs ? swatch("agprs", "AGPRs") : null,
    swatch("waste", "allocated and not used"),
    occupancy.limits.some((limit) => limit.resource === "sgpr") && occupancy.allocated.trap_sgprs
      ? swatch("trap", "trap handler") : null,
    swatch("empty", "free"));
}
