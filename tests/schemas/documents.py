"""The keys of each JSON document, as far as types and the table of columns do not state them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import kernelinfo.render.trend.writers as trend
from kernelinfo.compare import Comparison, Totals, changes
from kernelinfo.compare.changes import Effect, Move
from kernelinfo.compare.measurement import Measurement
from kernelinfo.compare.profile import Dispatch, Resources
from kernelinfo.compare.summary import IDENTITY, KernelSummary
from kernelinfo.compile.ir import Compiled, Input
from kernelinfo.fleet.history import History, Night, NightStep, Trend
from kernelinfo.gate.outcome import Judged, Outcome, Suppressed
from kernelinfo.hardware.targets import Target
from kernelinfo.kernel import USED, Finding, Kernel, Repeat, Result, Rule, Severity
from kernelinfo.kernel.code_object import (
    CodeObject,
    InstructionCounts,
    LoopCounts,
    TouchedRegisters,
)
from kernelinfo.kernel.columns import KernelSums, find
from kernelinfo.kernel.compiler_number import CompilerNumber
from kernelinfo.kernel.needs import RegisterNeeds
from kernelinfo.kernel.record import BY_FIELD, BY_NAME, INSTRUCTIONS, NUMBERS
from kernelinfo.model import Allocated, Headroom, Occupancy, Step
from kernelinfo.model.calculator import Rung
from kernelinfo.model.compilers import Printed
from kernelinfo.model.curves import CurvePoint, Filling, Grid
from kernelinfo.model.limits import Assumption, Limit
from kernelinfo.pressure.function import CodeLocation
from kernelinfo.pressure.measure import Measured
from kernelinfo.pressure.nouns import (
    Advice,
    BillLine,
    BlockPressure,
    CodeRange,
    InFlight,
    InstructionMix,
    LinePressure,
    LiveValues,
    LoopPressure,
    Peak,
    Pressure,
    Story,
    Wait,
)
from kernelinfo.pressure.registers import Counts
from kernelinfo.reading.arguments import Argument
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.code_object.extents import Owner
from kernelinfo.reading.facts import Fact, Numbers, SourceLine
from kernelinfo.render import diff as diff_rows
from kernelinfo.render import rows
from kernelinfo.render.bytes import ByteSums
from kernelinfo.render.diff import ChangedKernel, MovedSum
from kernelinfo.render.pressure.data import COLUMNS as OF_PRESSURE
from kernelinfo.render.rows import BY
from kernelinfo.render.trend import TrendRow
from kernelinfo.variants.nouns import Sweep, SweptKernel, Variant
from kernelinfo.variants.requests import Asked
from kernelinfo.watch.looks import WatchedKernel, WatchLook

from .generator import OBJECTS, Raw, Shared, description, fields, maybe, nullable, values
from .tables import compared, value_of

BUILDS = ("old", "new")
GFX = "string: The gfx target."
SIGNED = Raw({"type": "integer"})
LOCATED = fields(CodeLocation, "line address index=number source")
AT = fields(CodeLocation, "line address index=number")
CLASSES = zip(fields(InstructionCounts).items(), INSTRUCTIONS, strict=False)
BY_CLASS = {name: (of, description(*of[:2]) or column.about) for (name, of), column in CLASSES}
MIX = BY_CLASS | fields(InstructionMix, "peak spill_stores spill_reloads code_bytes")
FOUND = fields(Finding, rule=Raw({"type": "string", "pattern": "^KI[0-9]{3}$"}))
SUMMARIZED = fields(KernelSummary, " ".join((*IDENTITY, "source"))) | compared()
BUILD_SUMS = fields(KernelSums, but="waves_lost")
NO_LINE = "integer>0?: 1-based; null for the instructions without a source line."
DISTANCE = {"distance": "integer: Fewest instructions between it and the wait."}
VALUES = (
    "class=register_class registers count=total variable written written_last next_read "
    "next_read_last next_turn untouched untouched_most in_loop role"
)
LOOP = fields(LoopPressure, but="at code", depth="integer>0")
WAIT = fields(
    Wait,
    "instruction completes stays",
    completes=[LOCATED | DISTANCE],
    stays=[fields(InFlight, "memory loads bytes")],
)
OBJECTS |= {
    Advice: fields(Advice, fewer="integer>0", freed="integer>0[]"),
    Argument: fields(Argument),
    BillLine: fields(BillLine, "role count=total registers"),
    BlockPressure: fields(BlockPressure, but="at") | AT,
    CodeLocation: Shared("CodeLocation", LOCATED),
    CodeRange: fields(CodeRange, first=AT, last=AT),
    Finding: Shared("Finding", FOUND),
    Headroom: fields(Headroom, **dict.fromkeys(Headroom._fields, maybe(SIGNED))),
    InstructionCounts: BY_CLASS,
    InstructionMix: MIX,
    KernelSummary: Shared("Kernel", SUMMARIZED),
    KernelSums: Shared("KernelSums", BUILD_SUMS),
    Limit: fields(Limit, but="waves"),
    LinePressure: fields(SourceLine, file=str | None, line=NO_LINE) | MIX,
    LiveValues: Shared("LiveValues", fields(LiveValues, VALUES)),
    LoopCounts: fields(LoopCounts),
    LoopPressure: LOOP | LOCATED | MIX,
    Peak: fields(Pressure) | LOCATED | fields(Peak, "instruction loop held_for=instructions"),
    RegisterNeeds: fields(RegisterNeeds),
    Repeat: fields(Repeat, "path container=containers member offset"),
    Step: fields(Step, change=SIGNED),
    Suppressed: FOUND | fields(Suppressed, "reason until"),
    TouchedRegisters: fields(TouchedRegisters),
    Wait: LOCATED | WAIT,
}

OPTIONS = "string[]: Constants and options of Triton: `BLOCK_M=128`."
INPUT = fields(CodeObject, but="containers", options=OPTIONS)
INPUT |= fields(CodeObject, "container=containers")
INPUT["also"] = ([Repeat], "Other places where the same bytes were met, with --unique.")
READ = {
    "inputs": ([INPUT], "Code objects and assembly modules that kernels come from."),
    "problems": ([Problem], "What could not be read or measured, or only in part."),
}
RESIDENT = fields(Occupancy, "per simds workgroups waves wave_slots")
OCCUPANCY = fields(
    Occupancy,
    "percent waves_per_simd launchable obstacles exact at_most_because limiters limits next range "
    "headroom",
) | {"resident": (RESIDENT, "What one residency domain holds.")}
PLACE = fields(Fact, "from=source") | fields(Problem, "line")
PLACE["offset"] = "integer?: Bytes from the start of the code object."
NAMED = fields(Kernel, "symbol name") | {"target": "string?: gfx target that the numbers are for."}
IN = {"input": "integer: Index into inputs."}
SPILLS = fields(Numbers, "vgprs=vgpr_spills sgprs=sgpr_spills")
FLAGS = fields(Numbers, "dynamic_stack indirect_call recursion tg_split")
SIZES = fields(Numbers, "declared_max=max_workgroup_size required=required_workgroup")
ASSUMED = {"assumed": "integer?", "assumption": Assumption | None}
USES = fields(Numbers, " ".join(USED)) | {"dynamic_lds_bytes": "integer?"}
KERNEL = {
    **NAMED,
    **fields(Kernel, "source wave_size code_bytes code arguments instructions touched loops needs"),
    **fields(Numbers, "wgp_mode"),
    **fields(Result, "findings"),
    "spills": (SPILLS, "Number of spilled registers by kind."),
    "flags": (FLAGS, "Properties of stack and calls that leave numbers open."),
    "workgroup": (SIZES | ASSUMED, "Workgroup sizes that may be launched, in workitems."),
    "used": (USES, "Registers, LDS and scratch that the code uses."),
    "allocated": maybe(Allocated),
    "occupancy": (maybe(OCCUPANCY), "null when the target is not known."),
    "compiler_occupancy": maybe(CompilerNumber),
    "provenance": ({"*": PLACE}, "For each key of this kernel that was read: where it comes from."),
}
JUDGED = {f"{name}?": node for name, node in fields(Judged, "accepted suppressed").items()}
SUMMARY = {
    "kernels": "integer: Kernels reported.",
    "code_objects": "integer: Inputs with kernels.",
    "targets": ({"*": "integer"}, "Kernels by target."),
    "spilling": "integer: Kernels that spill registers.",
    **dict.fromkeys(("errors", "warnings", "notes"), "integer: Findings."),
    "suppressed": "integer: Findings that a suppression hid.",
}
RENAMED = dict.fromkeys(BUILDS, "string: Demangled name.") | fields(KernelSummary, "target")
GATE = fields(
    Outcome,
    "answered failed fail_on accepted passed_over baseline part remarks renamed likely_renames"
    " new_targets notices",
    accepted="integer",
    baseline="string?: Path of the baseline; null without one.",
    part="string?: The judged part of the build in words: `3 paths, -k vgpr*`; null for all of it.",
    renamed=[RENAMED],
    likely_renames=[RENAMED],
    new_targets={"*": "integer>0"},
)
REPORT = {
    **READ,
    "kernels": ([IN | KERNEL | JUDGED], "One element a kernel and target."),
    "summary": (SUMMARY, "Counts."),
    "gate?": (GATE, "What `check` answers; absent from a report."),
}


def moves(measures: Iterable[str]) -> dict[str, Any]:
    return fields(ChangedKernel, "why moves", moves=[fields(Move, measure=Literal[*measures])])


STATUSES = values(changes, "Effect") | values(diff_rows, "Status")
del STATUSES["same"]
COUNTED = {f"{status}?": f"integer>0: {text}" for status, text in STATUSES.items()}
COUNTS = {"counts": (COUNTED, "Elements of kernels by status, where there are any.")}
COMPILERS = {"compilers": ({of: f"string[]: Of the {of} build." for of in BUILDS}, "Stamps.")}
RETARGETED = {side: f"string: Target in the {side} build." for side in BUILDS}
RETARGETED["kernels"] = "integer>0: Kernels."
WHOLE = {
    "kind": (Literal["target", "library"], "What it is."),
    "name": "string: Target id, or name of the library without version.",
    "status": (Literal["gone", "new"], "gone: in the old build alone. new: in the new one alone."),
    "kernels": "integer>0: Its kernels.",
}
MOVED_SUMS = {"kernels": "integer: Number of these kernels.", "*": MovedSum}
ALL_KERNELS = {
    "kernels": "integer: Kernels that both builds have.",
    "affected": "integer: Those that are worse, mixed, changed or better.",
    **COUNTS,
    "retargeted": ([RETARGETED], "Kernels whose target or its features changed."),
    "whole": ([WHOLE], "Targets and libraries that one build has alone."),
    "old": (Totals, "Of the kernels that both builds have, as they were."),
    "new": (Totals, "Of the kernels that both builds have, as they are."),
    "totals": (MOVED_SUMS, "Sums over the kernels of both builds of which any number moved."),
}
CHANGED = {
    "status": (Literal[*STATUSES], "What became of it; summary.counts says what each means."),
    **fields(ChangedKernel, "match old new loops"),
    **moves(BY_FIELD),
}
DIFF = {
    **COMPILERS,
    "summary": (ALL_KERNELS, "The whole library."),
    "kernels": ([CHANGED], "Kernels that moved, are renamed, gone or new; the worst first."),
    **fields(Comparison, "problems"),
}
LACKS = "in the old or new build; null if unknown, or if the build lacks the kernel."
ON_TARGETS = {
    "kernel": "string: Name, with what tells it apart from others.",
    "status": (Effect | Literal["gone", "new"], "Effect of the moves on all targets together."),
    "^gfx.+_(old|new)$": f"number?: Waves per SIMD on this target {LACKS}",
    "^(vgpr|sgpr)_spills_(old|new)$": f"integer?: Spilled registers {LACKS}",
    "^scratch_bytes_per_lane_(old|new)$": f"integer?: Bytes of scratch per lane {LACKS}",
}
DIFF_TARGETS = {
    "targets": "string[]: The targets that are compared.",
    "kernels": ([ON_TARGETS], "Each kernel of either build; those gone, then new, stand last."),
}

COUNTED_BY = "Counts of each library, target and so on"
SUMS = fields(KernelSums, " ".join(rows.COUNTED))
IN_BOTH = {f"{side}_{name}": of for side in BUILDS for name, of in SUMS.items()}
KEY: dict[str, Any] = {"!": {"oneOf": [{"required": [by]} for by in BY]}}
KEY |= {f"{by}?": f"string: {BY_NAME[of.reads[0]].about}" for by in BY if (of := find(by))}
KEY["limiter?"] = "string: Resource that limits the waves; a kernel with several counts for each."
SUMMED = {"counts": ([SUMS | KEY], f"{COUNTED_BY}, most kernels first.")}
SUMMED_IN_BOTH = {"counts": ([IN_BOTH | KEY], f"{COUNTED_BY}.")}
BYTES_KEYS = {
    "library": "Name of the file without folder and version, or of a package.",
    "member": "File in a package; empty for code of the file itself.",
    "target": "Target id; empty for bytes of containers.",
    "file": "File, as given or as found in a folder.",
    "family": "Name of kernels and functions without arguments; empty for other bytes.",
}
CELL = {f"{by}?": f"string: {by.title()} of the cell." for by in (*BY, "device")}
CELL["kernels"] = "integer?: Kernels, 0 without code; null for SPIR-V, which states none."
CELL["code?"] = "string[]: Target ids of the code that the device loads, its own first."
MATRIX = {
    "by": "string[]: The keys: those of the rows, and those of the columns.",
    "cells": ([CELL], "Each row and column."),
}
SAVED = "Bytes; below 0 for those that compression saves."
OWNED: dict[str, Any] = {f"{by}?": f"string: {about}" for by, about in BYTES_KEYS.items()}
OWNED |= fields(ByteSums, bytes=(SIGNED, SAVED)) | {"owner": (Owner, "What the bytes are for.")}
BYTES = {
    "by": "string[]: The keys.",
    "bytes": ([OWNED], "Bytes of each value of the keys and each owner."),
}
VALUE = {"type": ["string", "number", "boolean", "array", "null"], "items": {"type": "string"}}
CHOSEN = {
    "columns": "string[]: The chosen columns.",
    "kernels": ([{"*": Raw(VALUE)}], "Each kernel, by the names of the columns; null if unknown."),
}

LLVM = {"version": "integer: Version of LLVM."} | fields(Printed)
HIP = {
    "fixes": (Literal["before", "after"], "Before or after its fixes of 2026."),
    "max_active_blocks": "integer: Workgroups per CU or WGP.",
}
CALC = {
    "target": GFX,
    "workgroup_size": "integer: Workitems of a workgroup.",
    **OCCUPANCY,
    "device?": (Filling, "A product full of these workgroups, with --device."),
    "llvm?": (LLVM, "The numbers that this version of LLVM prints, with --as-llvm."),
    "hip?": (HIP, "The answer of HIP's occupancy function, with --as-hip."),
}
POINT = {
    "target": GFX,
    "vgprs?": "integer: VGPRs of a lane.",
    "sgprs?": "integer: SGPRs of a wave.",
    "lds_bytes?": "integer: Bytes of LDS of a workgroup.",
    "workgroup_size?": "integer: Workitems of a workgroup.",
    **fields(CurvePoint, but="at"),
}
CURVE = {"points": ([POINT], "One for each value of --vary or --best.")}
LIMITS = {"target": GFX, "steps": ([Rung], "One for each occupancy.")}
ARCH = {"targets": ([Target], "The target that was asked for, or all.")}
RULE = fields(Rule, "rule=number name severity on summary documentation", severity=Severity)
RULES = {"rules": ([RULE], "Every rule, by number.")}
COMPARED = ("predicted", "measured")
LAUNCH = {
    "target": "string?: Target that is compared with.",
    **fields(Dispatch, "profiled_as=kernel workgroup_size workgroups dispatches=launches"),
    **fields(Dispatch, "duration_ns", duration_ns=Raw({"type": ["number", "null"]})),
    **nullable(fields(Kernel, "kernel=name symbol")),
    **{f"{name}_{of}": node for of in COMPARED for name, node in fields(Resources).items()},
    **nullable(fields(Occupancy, "percent_predicted=percent limiters")),
    **nullable(fields(Filling, "device=name workgroups_at_once=workgroups")),
    **nullable(fields(Grid, "grid_percent=percent")),
    **fields(Measurement, "percent_measured=percent why_target remarks", why_target="string?"),
}
LAUNCHES = {"launches": ([LAUNCH], "One for each kernel and shape.")}
LEFT_OUT = "files loops_left_out has_source has_variables"
RUNG, AMOUNTS = fields(Rung, "at_most=vgprs waves_per_simd"), tuple[int, int, int]
MEASURED_KERNEL = {
    **IN,
    **NAMED,
    "kernel": "boolean: false for a function that is no kernel.",
    **fields(Story, "instructions exact"),
    **fields(Story, but=LEFT_OUT, steps=[RUNG], curve=[AMOUNTS], needs_curve=[AMOUNTS]),
    **fields(Measured, "lds"),
}
PRESSURE = READ | {"kernels": ([MEASURED_KERNEL], "One element a kernel.")}
ROW = {of.name + "?" * (of in INSTRUCTIONS): value_of(of) for of in BY_NAME.values()}
PRESSURE_ROW = {
    **{name: value_of(BY_NAME[name]) for name in OF_PRESSURE if name in BY_NAME},
    "Target": "string?: The gfx target.",
    **fields(Story, "Instructions=instructions Exact=exact"),
    "Reasons": "string: Reasons for a bound, separated by semicolons.",
    **fields(Counts, "VGPR_Used=vgprs AGPR_Used=agprs SGPR_Used=sgprs"),
    **fields(Pressure, "Vector_Peak=vector VGPR_Peak=vgprs AGPR_Peak=agprs SGPR_Peak=sgprs"),
    **fields(CodeLocation, "Peak_Line=line Peak_Address=address"),
    **nullable(fields(SourceLine, "Peak_Source_File=file Peak_Source_Line=line")),
    **fields(Peak, "Peak_Loop=loop"),
    **nullable(fields(Advice, "Next_At_Most=at_most Instructions_Above=above")),
}

LIBRARIES = {
    "old": "string[]: Stamps that the library no longer has.",
    "new": "string[]: Stamps that it did not have before.",
    "libraries": "integer>0: Number of libraries.",
}
STEP = {"old": "string: The build before.", "new": "string: The build."} | COUNTS | COMPILERS
STEP |= fields(NightStep, "libraries") | {"recompiled": ([LIBRARIES], "Most libraries first.")}
MOVED = {"build": "string: Where it is not as in the build before."}
MOVED |= moves(number.field for number in NUMBERS)
SIDE = maybe(KernelSummary)
RETURNED = "From the first build to the last, as of diff; same: moved, or was gone, in between."
TRACED = {
    "status": (Literal[*STATUSES, "same"], RETURNED),
    **fields(History, "library match", match=Literal["exact", "name", "namespace"] | None),
    **fields(TrendRow, "why moved_in commits"),
    "history": ([SIDE], "The kernel in each build; null where that does not have it."),
    "steps": ([MOVED], "What moved, build by build."),
}
BUILD = fields(Night, "name") | BUILD_SUMS | fields(Night, " ".join(trend.OF_BUILD))
TREND = {
    **fields(Trend, "dataset builds", builds=[BUILD, 1]),
    "steps": ([STEP], "Each build but the first, compared with the one before."),
    **fields(Trend, "unfinished by groups"),
    "kernels": ([TRACED], "Kernels that moved in any step, the worst first; with --moved all."),
}

PAIR = maybe(moves(BY_FIELD))
HIGHEST = fields(Pressure, "vector") | fields(Story, "exact") | fields(Peak, "instruction")
HIGHEST |= fields(WatchedKernel, "text=peak_text") | fields(CodeLocation, "source line address")
WATCHED = {
    **fields(WatchedKernel, "status"),
    **fields(WatchedKernel, "previous=since_previous first=since_first", previous=PAIR, first=PAIR),
    **fields(WatchedKernel, "peak=story", peak=maybe(HIGHEST)),
    "row": Raw({"type": "object", "description": "As row-schema.json describes it."}),
    **fields(Result, "findings"),
    "new": "string[]: Rules with findings now, and none in the look before.",
    "ended": "string[]: Rules with findings in the look before, and none now.",
}
LOOK = fields(
    WatchLook,
    "look=number time build seconds failure kernels gone problems",
    look="integer>0",
    time=Raw({"type": "string", "format": "date-time"}),
    build="string?: The command that ran before the look; null if somebody else builds.",
    failure="string?: Message of the command that failed: no kernel was read again; null if none.",
    kernels=[WATCHED],
    gone=[fields(KernelSummary, "symbol name target code_object")],
)

IN_REPORT = "As an element of kernels in report-schema.json, without input; null if it failed."
VARIANT = {
    **fields(Variant, "asked", asked=fields(Asked, waves="integer>0?", launch_bounds="integer>0?")),
    **fields(Variant, "ignored=is_ignored error"),
    "kernel": Raw({"type": ["object", "null"], "description": IN_REPORT}),
    "code": "string?: Kind of that error, which stays as sentences change.",
}
SWEPT_KERNEL = fields(SweptKernel, "symbol name notes variants lines", variants=[VARIANT, 1])
SWEPT = {
    **fields(Compiled, "command", command="string[]?"),
    **fields(Input, "input=path made_by=producer"),
    **fields(
        Sweep,
        "target=target_id compiler level level_from driver notes kernels",
        level="string: Optimisation level, such as -O3.",
        driver=Literal["clang", "hipcc"],
        kernels=[SWEPT_KERNEL],
    ),
}
SWEEP = {"inputs": ([SWEPT], "One element a file.")}
