"""A user's script with the whole API, for type checkers: it is checked and never run."""

from __future__ import annotations

from pathlib import Path

import kernelinfo
import kernelinfo.triton


def read(path: Path) -> kernelinfo.Report:
    options = kernelinfo.Options(
        workgroup_size=256,
        where=kernelinfo.condition("waves < 4"),
        selection=kernelinfo.Selection(),
    )
    try:
        return kernelinfo.load(path, options)
    except (kernelinfo.ReadError, kernelinfo.OptionError, kernelinfo.UnknownTargetError):
        raise SystemExit(2) from None


def ask(report: kernelinfo.Report) -> float:
    kernel: kernelinfo.Kernel = report.kernel("gemm")
    code: kernelinfo.CodeObject = kernel.code_object
    allocated: kernelinfo.Allocated = kernel.allocated
    found: kernelinfo.Occupancy = kernel.occupancy(workgroup_size=256, dynamic_lds=1024)
    moved: kernelinfo.Kernel = kernel.on("MI300X")
    steps: tuple[kernelinfo.Step, ...] = kernel.next
    limits: tuple[kernelinfo.Limit, ...] = found.limits
    room: kernelinfo.Headroom = found.headroom
    sizes: kernelinfo.Range | None = found.range
    demand: kernelinfo.Demand = found.demand
    launch: kernelinfo.Launch = found.launch
    target: kernelinfo.Target | None = kernel.target
    results: tuple[kernelinfo.Result, ...] = report.results
    findings: list[kernelinfo.Finding] = [one for result in results for one in result.findings]
    problems: tuple[kernelinfo.Problem, ...] = report.problems
    copies: tuple[kernelinfo.Repeat, ...] = report.repeats
    print(code.path, allocated.vgprs, moved.limiters, steps, limits, room.vgprs, sizes, demand)
    print(launch, target, findings, problems, copies, report["gemm*"].max("vgpr_spills"))
    return kernel.waves_per_simd


def plan() -> float:
    calculator: kernelinfo.Arch = kernelinfo.arch("gfx942")
    rungs: tuple[kernelinfo.Rung, ...] = calculator.limits(workgroup_size=256)
    found = kernelinfo.occupancy(
        "gfx942", vgprs=128, agprs=64, sgprs=80, lds_bytes=32768, workgroup_size=256
    )
    return found.percent + rungs[0].waves_per_simd


def judge(report: kernelinfo.Report) -> bool:
    configuration: kernelinfo.Configuration = kernelinfo.read_config("kernelinfo.toml")
    outcome: kernelinfo.Outcome = kernelinfo.check(report, configuration)
    judged: tuple[kernelinfo.Judged, ...] = outcome.judged
    notices: tuple[kernelinfo.Notice, ...] = outcome.notices
    excused: list[kernelinfo.Suppressed] = [one for each in judged for one in each.suppressed]
    comparison: kernelinfo.Comparison = kernelinfo.diff("old", "new")
    pairs: tuple[kernelinfo.Pair, ...] = comparison.pairs
    gone: tuple[kernelinfo.KernelSummary, ...] = comparison.gone
    numbers: list[kernelinfo.KernelNumbers] = [pair.new.numbers for pair in pairs]
    print(notices, excused, [pair.why for pair in pairs if pair.affected], gone, numbers)
    return outcome.failed


def look(path: str) -> None:
    story: kernelinfo.Story = kernelinfo.live_registers(path, "gemm")
    swept: kernelinfo.Sweep = kernelinfo.sweep(path, "gemm")
    tried = kernelinfo.sweep("k.hip", arch="MI300X", flags=["-O2"], compile_commands=Path("c.json"))
    print(story.peak.pressure.vector, swept.kernels, tried.level)
    for item in kernelinfo.analyse([path], kernelinfo.Options()):
        print(item)


def gather() -> None:
    done = kernelinfo.scan("build/", to="fleet", build="1", labels={"commit": "1a2b3c"})
    moved: kernelinfo.Trend = kernelinfo.trend("fleet", by="library")
    print(done.kernels, moved.builds, kernelinfo.__version__)
    with kernelinfo.triton.collect() as collected:
        report: kernelinfo.Report = collected.report
    print(len(report))


ERRORS: tuple[type[kernelinfo.KernelinfoError], ...] = (
    kernelinfo.BaselineError,
    kernelinfo.CompilerError,
    kernelinfo.ConfigError,
    kernelinfo.LaunchError,
    kernelinfo.UnknownKernelError,
)
