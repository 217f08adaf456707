/* Numbers and hardware terms as the text report writes them (kernelinfo/render/words.py). */
"use strict";

const RESOURCES = {
  slots: "slots",
  vgpr: "VGPR",
  sgpr: "SGPR",
  lds: "LDS",
  barriers: "barriers",
  scratch: "scratch",
};

const ASSUMED = {
  option: "as given",
  config: "as configured",
  required: "required by the kernel",
  "declared-max": "the declared maximum",
  "hardware-max": "the hardware's maximum: none is declared",
  "graphics-stage": "a graphics stage: waves are launched one by one",
};

/* What is launched, and how that is known. */
function launched({ workgroup_size: size, assumption }) {
  const known = ASSUMED[assumption];
  return assumption === "graphics-stage" ? known : `workgroups of ${size}, ${known}`;
}

/* Without a fraction that says nothing: 8, 5.5, 0.25. */
const number = (value) => (value === null ? "?" : String(Number(value.toPrecision(4))));

/* One decimal, a tie to the even one as Python rounds. */
function percent(value) {
  const tenths = value * 10;
  const below = Math.floor(tenths);
  const tie = tenths - below === 0.5;
  return `${number((tie ? below + (below % 2) : Math.round(tenths)) / 10)} %`;
}

const wavesPerSimd = (value) => `${number(value)} wave${value === 1 ? "" : "s"}/SIMD`;

/* 10831 as 10 831, with a space that does not break. */
const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");

const plural = (count, noun) => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

/* Bytes, in KiB where that is exact. */
function bytes(count) {
  if (count === null) return "?";
  if (count && count % 1024 === 0) return `${count / 1024} KiB`;
  return count ? `${count} B` : "0";
}

const inBytes = (resource) => resource === "lds" || resource === "scratch";

const bare = (resource, value) => (inBytes(resource) ? bytes(value) : String(value));

function amount(resource, value) {
  return `${bare(resource, value)} ${RESOURCES[resource]}${inBytes(resource) ? "" : "s"}`;
}

const change = (resource, by) => `${by > 0 ? "+" : "−"}${bare(resource, Math.abs(by))}`;

/* `≤ 96 VGPRs (uses 122, −26)`, every binding resource named. */
function nextStep(occupancy) {
  const mends = occupancy.next.map((step) => {
    const asked = occupancy.limits.find((limit) => limit.resource === step.resource).used;
    const registers = inBytes(step.resource) ? "" : `uses ${asked}, `;
    const by = change(step.resource, step.change);
    return `≤ ${amount(step.resource, step.at_most)} (${registers}${by})`;
  });
  const reached = occupancy.next[0];
  return `${mends.join(" and ")} → ${wavesPerSimd(reached.waves_per_simd)}, ` +
    percent(reached.percent);
}

const limitersInWords = (limiters) => limiters.map((name) => RESOURCES[name]).join(" ");
