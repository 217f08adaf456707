"""How commands tell of themselves, to people who ask and to shells that complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

DEFAULT_COMMAND = "report"

_SECTIONS = {
    "Kernels": (
        "kernels", "exclude", "target", "limited_by", "spilling", "unique", "all_copies",
        "source_lines",
    ),
    "Registers and memory": ("vgpr", "agpr", "sgpr", "lds", "scratch"),
    "Hardware and launch": (
        "arch", "run_as", "device", "workgroup_size", "dynamic_lds", "grid", "wave", "cu_mode",
        "dynamic_vgpr_block", "no_trap_handler",
    ),
    "Questions": ("vary", "best", "as_llvm", "as_hip", "waves", "launch_bounds", "strategy"),
    "Compiler": ("compiler", "level", "mllvm", "timeout"),
    "Rules": ("select", "ignore", "severity", "config"),
    "Comparison": ("across_targets",),
    "Gate": (
        "baseline", "update_baseline", "strict_baseline", "fail_on", "exit_zero", "min_kernels",
        "subset", "show_config",
    ),
    "Output": (
        "format", "output", "names", "color", "width", "top", "sort", "group", "quiet", "verbose",
        "jobs",
    ),
}  # fmt: skip
"""Parameters of all commands; others stand under Options."""


class Command(TyperCommand):
    """Its options stand in sections, its examples as they are written."""

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        section_of = {name: section for section, names in _SECTIONS.items() for name in names}
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        sections |= {section: [] for section in _SECTIONS}
        for param in self.get_params(ctx):
            if record := param.get_help_record(ctx):
                is_argument = param.param_type_name == "argument"
                section = section_of.get(param.name or "", "Options")
                sections["Arguments" if is_argument else section].append(record)
        sections["Options"] = sections.pop("Options")
        for section, records in sections.items():
            if records:
                with formatter.section(section):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        _write(self.epilog, formatter)


class CommandLine(TyperGroup):
    """The commands; a shell that completes is offered files as well, which are for `report`."""

    def format_epilog(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        _write(self.epilog, formatter)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        is_named = args[0] in self.commands or DEFAULT_COMMAND not in self.commands
        return super().resolve_command(ctx, args if is_named else [DEFAULT_COMMAND, *args])

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        found = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("-"):
            default = self.commands[DEFAULT_COMMAND]
            with default.make_context(DEFAULT_COMMAND, [], ctx, resilient_parsing=True) as own:
                return [*found, *default.shell_complete(own, incomplete)]
        # Shells offer files by themselves only where they are offered nothing else.
        return [*found, *(type(found[0])(path) for path in files(incomplete))] if found else []


def files(incomplete: str) -> Iterator[str]:
    """The paths that begin so, hidden ones only where asked for."""
    folder, name = os.path.split(incomplete)
    try:
        entries = sorted(os.scandir(folder or "."), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(name) and (name or not entry.name.startswith(".")):
            yield os.path.join(folder, entry.name) + "/" * entry.is_dir()


def _write(text: str | None, formatter: Any) -> None:
    if text:
        formatter.write(f"\n{text.strip()}\n")
