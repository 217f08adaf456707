"""What rocprofiler-compute should show of a kernel, so that one run can confirm the prediction.

Panels and metrics of rocprofiler-compute 3 (analysis configuration of the gfx90x and gfx94x SoCs):
2.1.15 wavefront occupancy; 6.2 workgroup manager, resource allocation; 7.1 wavefront launch stats.
"""

from __future__ import annotations

from kernelinfo.kernel import Result
from kernelinfo.occupancy.limits import Resource
from kernelinfo.occupancy.targets import Device
from kernelinfo.render.words import percent

_STALLS: dict[Resource, str] = {
    "slots": "6.2.4 Insufficient SIMD Waveslots",
    "vgpr": "6.2.5 Insufficient SIMD VGPRs",
    "sgpr": "6.2.6 Insufficient SIMD SGPRs",
    "lds": "6.2.7 Insufficient CU LDS",
    "barriers": "6.2.8 Insufficient CU Barriers",
}
"""Number and name of the metric that says what kept workgroups waiting."""


def expected(result: Result, device: Device | None = None) -> list[str]:
    """The counters to look at, in words; empty for parts that the profiler does not know."""
    target, occupancy = result.kernel.target, result.occupancy
    device = device or result.device
    if target is None or occupancy is None or device is None or not device.cus:
        return []
    if target.waves.dispatch_cap_per_cu or not occupancy.launchable:
        return []
    slots = occupancy.wave_slots * device.cus
    waves = occupancy.waves * device.cus
    lines = [
        f"rocprof-compute 2.1.15 Wavefront Occupancy ≤ {percent(occupancy.percent)} "
        f"({waves} of {slots} wavefronts on an {device.name})"
    ]
    stalled = [_STALLS[name] for name in occupancy.limiters if name in _STALLS]
    idle = [metric.split(" ")[0] for metric in _STALLS.values() if metric not in stalled]
    if stalled:
        lines.append(f"{', '.join(stalled)} > 0 once the grid fills the device")
    lines.append(f"the others of 6.2 ({', '.join(idle)}) = 0")
    allocated = occupancy.allocated
    registers = {
        "7.1.5 VGPRs": allocated.arch_vgprs,
        "7.1.6 AGPRs": allocated.agprs,
        "7.1.7 SGPRs": allocated.sgprs,
    }
    lines += [f"{metric} {value}" for metric, value in registers.items() if value is not None]
    return lines
