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

/* The workgroup size of the launch and its source. */
function launched({ workgroup_size: size, assumption }) {
  const known = ASSUMED[assumption];
  return assumption === "graphics-stage" ? known : `workgroups of ${size}, ${known}`;
}

/* A number without trailing zeros: 8, 5.5, 0.25. */
const number = (value) => (value === null ? "?" : String(Number(value.toPrecision(4))));

/* One decimal; ties go to the even digit as in Python. */
function percent(value) {
  const tenths = value * 10;
  const below = Math.floor(tenths);
  const tie = tenths - below === 0.5;
  return `${number((tie ? below + (below % 2) : Math.round(tenths)) / 10)} %`;
}

/* `≤ ` before a number that is an upper bound. */
const boundOf = ({ exact, waves_per_simd: waves }) => (exact === false && waves ? "≤ " : "");

const wavesPerSimd = (value) => `${number(value)} wave${value === 1 ? "" : "s"}/SIMD`;

/* The waves of an occupancy, with ≤ if they are a bound. */
const reached = (occupancy) => boundOf(occupancy) + wavesPerSimd(occupancy.waves_per_simd);

/* 10831.5 as 10 831.5, with a no-break space. */
const grouped = (count) => String(count).replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, "\u202f");

/* A text in which a line does not break inside 1 234. */
const unbroken = (text) => text.replace(/(?<=\d) (?=\d{3})/g, "\u202f");

const plural = (count, noun) => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

/* Bytes, in KiB if exact. */
function bytes(count) {
  if (count === null) return "?";
  if (count >= 1024 && count % 256 === 0) return `${count / 1024} KiB`;
  return count ? `${count} B` : "0";
}

/* True if KiB are exact for these numbers of bytes; unknown ones do not count. */
function areKib(counts) {
  const stated = counts.filter((count) => count > 0);
  return stated.some((count) => count >= 1024) && stated.every((count) => count % 256 === 0);
}

/* Bytes in the unit of a column. */
function bytesIn(isKib, count) {
  if (count === null || count < 0) return "?";
  return count ? `${isKib ? count / 1024 : count} ${isKib ? "KiB" : "B"}` : "0";
}

/* Two numbers of bytes: `16 → 16.5 KiB`; one text if both are equal. */
function bytesMove(before, after, isKib = areKib([before, after])) {
  if (before === after) return bytesIn(isKib, after);
  const [one, other] = [before, after].map((count) => (isKib ? count / 1024 : count));
  return `${one} → ${other} ${isKib ? "KiB" : "B"}`;
}

/* A sum of bytes: whole KiB from 10 KiB on, MiB from 10 MiB on. */
function roughly(count) {
  if (count < 10 * 2 ** 10) return bytes(count);
  if (count < 10 * 2 ** 20) return `${grouped(Math.round(count / 2 ** 10))} KiB`;
  return `${grouped(Number((count / 2 ** 20).toFixed(1)))} MiB`;
}

const inBytes = (resource) => resource === "lds" || resource === "scratch";

const bare = (resource, value) => (inBytes(resource) ? bytes(value) : String(value));

function amount(resource, value) {
  return `${bare(resource, value)} ${RESOURCES[resource]}${inBytes(resource) ? "" : "s"}`;
}

const change = (resource, by) => `${by > 0 ? "+" : "−"}${bare(resource, Math.abs(by))}`;

/* `≤ 96 VGPRs (uses 122, −26) → 5 waves/SIMD`, every useful step named; empty without one. */
function nextStep({ occupancy, next }) {
  if (!next.length) return "";
  const usedOf = (resource) => occupancy.limits.find((limit) => limit.resource === resource).used;
  const bounds = next.map(({ resource, at_most: most, change: by }) =>
    `≤ ${amount(resource, most)} (${inBytes(resource) ? "" : `uses ${usedOf(resource)}, `}` +
    `${change(resource, by)})`);
  const [step] = next;
  const text = `${bounds.join(" and ")} → ${wavesPerSimd(step.waves_per_simd)}, ` +
    percent(step.percent);
  const free = String(occupancy.limiters) === "lds" ? occupancy.headroom.vgprs : 0;
  return free ? `${text}; VGPRs may grow to ${usedOf("vgpr") + free} at no cost` : text;
}

const limitersInWords = (limiters) => limiters.map((name) => RESOURCES[name]).join(" ");
