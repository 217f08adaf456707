/* Waves/SIMD of one kernel against its VGPRs, its workgroup size and its LDS. */
"use strict";

const CURVES = {
  vgpr: {
    title: "Vector registers",
    axis: "VGPRs per lane",
    unit: (value) => `${value} VGPRs`,
    asked: ({ demand }) => unpadded(demand).vgprs,
    free: ({ occupancy }) => occupancy.headroom.vgprs,
    ticks: (most) => binaryTicks(most, 8).map((value) => [value, String(value)]),
  },
  size: {
    title: "Workgroup size",
    axis: "workitems per workgroup",
    unit: (value) => `workgroups of ${value}`,
    asked: ({ launch }) => launch.workgroup_size,
    free: () => null,
    ticks: (most) => binaryTicks(most, 8).map((value) => [value, String(value)]),
  },
  lds: {
    title: "LDS",
    axis: "KiB per workgroup, static and dynamic",
    unit: (value) => (value ? `${bytes(value)} of LDS` : "no LDS"),
    asked: ({ demand, launch }) => ldsOf(demand, launch),
    free: ({ occupancy }) => occupancy.headroom.lds_bytes,
    ticks: (most) => binaryTicks(most, 8).map((value) => [value, String(value / 1024)]),
  },
};

const WIDTH = 360;
const HEIGHT = 210;

/* One curve as a figure. `now` is the case shown, `before` the compiled case if it differs.
   `choose(value)` gets the value that the user points at. */
function curveFigure(variable, now, before, targets, choose) {
  const kind = CURVES[variable];
  const asked = kind.asked(now);
  const target = targets[now.target];
  const caption = html("figcaption", {}, html("b", {}, kind.title));
  if (asked === null)
    return html("figure", {}, caption, html("p", { class: "quiet" }, "the input does not say: ?"));
  const points = curveOf(variable, target, now.demand, now.launch, targets);
  const waves = points.map((point) => [point.at, point.occupancy.waves_per_simd]);
  const most = points.at(-1).at;
  const xMost = Math.max(most, asked);
  const slots = now.occupancy.wave_slots / now.occupancy.simds;
  const frame = frameOf({
    width: WIDTH, height: HEIGHT, xMost, yMost: slots,
    xTicks: kind.ticks(most), yTicks: roundTicks(slots, 5).map((value) => [value, String(value)]),
    xTitle: kind.axis, yTitle: "waves/SIMD",
  });
  const reading = html("p", { class: "reading" }, sayAt(kind, asked, now.occupancy));
  const line = staircase(waves, frame, 0);
  const chart = drawing(WIDTH, HEIGHT, describe(kind, asked, now.occupancy, waves),
    frame.axes,
    svg("path", { d: `${line}V${frame.y(0)}H${frame.x(0)}Z`, class: "area" }),
    variable === "size" ? allowedSizes(now, frame) : null,
    freeRoom(kind.free(now), asked, now.occupancy, frame),
    svg("path", { d: line, class: "line" }),
    stepMark(variable, now, frame),
    before?.target === now.target ? dotAt(kind.asked(before), before.occupancy, frame, "dot before") : null,
    dotAt(asked, now.occupancy, frame, "dot"),
  );
  const pointed = (event) => {
    const box = chart.getBoundingClientRect();
    const across = ((event.clientX - box.left) / box.width) * WIDTH;
    const value = ((across - frame.left) / (frame.right - frame.left)) * xMost;
    return points.find((point) => point.at >= value) || points.at(-1);
  };
  chart.addEventListener("pointermove", (event) => {
    const { at, occupancy } = pointed(event);
    reading.textContent = sayAt(kind, at, occupancy);
  });
  chart.addEventListener("pointerleave", () => {
    reading.textContent = sayAt(kind, asked, now.occupancy);
  });
  chart.addEventListener("click", (event) => choose(pointed(event).at));
  return html("figure", { class: "curve", "data-curve": variable }, caption, chart, reading);
}

const sayAt = (kind, at, occupancy) =>
  `${kind.unit(at)}: ${occupancy.obstacles.length
    ? "cannot start" : reached(occupancy)}`;

function describe(kind, asked, occupancy, waves) {
  const steps = waves.filter(([, value], index) => value !== waves[index + 1]?.[1]);
  const ladder = steps.map(([at, value]) => `to ${at}: ${number(value)}`).join(", ");
  return `${kind.title}: ${sayAt(kind, asked, occupancy)}. ` +
    `Waves per SIMD by ${kind.axis}: ${ladder}`;
}

/* Resources that the kernel can use in addition without losing waves. */
function freeRoom(free, asked, occupancy, frame) {
  if (!free || !occupancy.waves) return null;
  const [from, to] = [frame.x(asked), frame.x(asked + free)];
  const top = frame.y(occupancy.waves_per_simd);
  return svg("g", {},
    svg("rect", { x: from, y: top, width: to - from, height: frame.bottom - top, class: "free" }),
    svg("title", {}, `free room: ${free}`));
}

/* Possible workgroup sizes of a launch, if the size is not fixed. */
function allowedSizes({ occupancy, launch }, frame) {
  if (!occupancy.range) return null;
  const end = frame.x(launch.workgroup_size);
  return svg("rect", { x: frame.left, y: frame.bottom - 3, width: end - frame.left, height: 3,
    class: "allowed" });
}

function stepMark(variable, { occupancy, next }, frame) {
  const step = next.find(({ resource }) => resource === variable);
  if (!step) return null;
  const [x, y] = [frame.x(step.at_most), frame.y(step.waves_per_simd)];
  const label = `${change(variable, step.change)} → ${number(step.waves_per_simd)}`;
  const near = x > (frame.left + frame.right) / 2;
  return svg("g", { class: "next" },
    svg("line", { x1: x, x2: x, y1: frame.y(occupancy.waves_per_simd), y2: y }),
    svg("path", { d: `M${x},${y}m-4,5l4,-5l4,5` }),
    textAt(near ? x - 8 : x + 8, y - 4, label, { class: near ? "end" : null }));
}

const dotAt = (asked, occupancy, frame, kind) =>
  asked === null ? null : svg("circle", { cx: frame.x(asked),
    cy: frame.y(occupancy.waves_per_simd), r: 5, class: kind });
