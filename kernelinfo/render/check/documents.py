"""The outcome of a check as JSON, Markdown and a page, and the configuration in force as TOML.

The JSON document is the report's with the gate's findings; report-schema.json has every key.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import chain, groupby
from typing import Any

from kernelinfo.compare import Comparison
from kernelinfo.compare.changes import Pair
from kernelinfo.config import ConfigFile, KeyPath
from kernelinfo.config.keys import KEYS, Key
from kernelinfo.errors import Message
from kernelinfo.gate.outcome import VANISHED, Outcome
from kernelinfo.kernel import Item, Result, counted
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.messages import in_file
from kernelinfo.render import View, check, diff, html, paint, tables
from kernelinfo.render.diff.text import COLUMNS, rows_in_markdown
from kernelinfo.render.json import as_json, document, encoded, picked
from kernelinfo.render.table import worst_first


def render_json(outcome: Outcome, view: View) -> Iterator[str]:
    gone = (
        Problem(
            notice.path or "",
            in_file(notice.subject, Message(notice.finding.message, notice.finding.code)),
            line=notice.line,
        )
        for notice in outcome.notices
        if notice.finding.rule == VANISHED
    )
    excused = (
        {
            "suppressed": [
                as_json(each.finding) | picked(each, "reason", "until")
                for each in judged.suppressed
            ],
            "accepted": as_json(judged.accepted),
        }
        for judged in outcome.kernels()
    )
    report = outcome.report
    counts = Counter(f"{notice.finding.severity}s" for notice in outcome.notices)
    counts["suppressed"] = sum(len(judged.suppressed) for _, judged in outcome.excused)
    whole = document(chain(report.results, outcome.problems, gone, report.repeats), excused, counts)
    whole["gate"] = {
        **picked(outcome, "answered", "failed", "fail_on", "passed_over"),
        "accepted": len(outcome.accepted),
        "baseline": str(outcome.baseline) if outcome.baseline else None,
        "part": outcome.part or None,
        "remarks": outcome.remarks,
        "renamed": [*map(_names, outcome.renamed)],
        "likely_renames": [*map(_names, outcome.likely_renames)],
        "new_targets": outcome.new_targets,
        "notices": as_json(outcome.notices),
    }
    yield from encoded(whole)


def _names(pair: Pair) -> dict[str, str]:
    return {"old": pair.old.name, "new": pair.new.name, "target": pair.new.target}


# Markdown of failing kernels, for pull requests and summaries of GitHub jobs.

_FAILING = ("kernel", "target", "waves/SIMD", "finding", "at")
_EXCUSED = ("kernel", "target", "finding")


def render_markdown(outcome: Outcome, view: View) -> Iterator[str]:
    """The verdict, the failing kernels, then notes and problems."""
    yield f"**kernelinfo {tables.plain(check.headline(outcome))}**\n"
    all_claims = list(check.claims(outcome, view))
    failing = groupby((c for c in all_claims if c.fails), lambda claim: claim.result)
    fails = [_kernel_row(result, list(group)) for result, group in failing if result is not None]
    yield from tables.kernel_table(_FAILING, fails)
    if outcome.comparison is not None:
        yield from _moved(outcome.comparison, view)
    notes = [
        f"{c.finding.rule} {c.finding.severity}: "
        f"{tables.code(c.subject)}{tables.plain(c.on_target)}: {tables.plain(c.text)}"
        for c in all_claims
        if c.result is None
    ]
    yield from _list("About the gate itself:", notes)
    problems = [
        f"{tables.code(p.path)}: {tables.plain(check.problem_text(p))}" for p in outcome.problems
    ]
    yield from _list("Not covered:", [tables.plain(remark) for remark in outcome.remarks])
    renamed = [
        (tables.code(pair.old.name), tables.code(pair.new.name), tables.code(pair.new.target))
        for pair in outcome.renamed
    ]
    yield from tables.folded(f"{len(renamed)} renamed", ("was", "is", "target"), renamed)
    yield from _list("Could not be answered:", problems)
    excused = [
        (*_cells(claim), tables.plain(claim.excuse)) for claim in all_claims if claim.suppressed
    ]
    yield from tables.folded(f"{len(excused)} suppressed", (*_EXCUSED, "reason"), excused)
    accepted = [_cells(claim) for claim in all_claims if claim.accepted]
    yield from tables.folded(f"{len(accepted)} accepted by the baseline", _EXCUSED, accepted)


def _moved(comparison: Comparison, view: View) -> Iterator[str]:
    """One line on the changes since the baseline, and a folded table of affected kernels."""
    changes = diff.rows(comparison)
    affected = rows_in_markdown(changes, diff.AFFECTED, view)
    moved = sum(row.status in diff.AFFECTED for row in changes)
    yield f"\nSince the baseline: {tables.plain(diff.roll_up(comparison, changes))}\n"
    yield from tables.folded(f"{counted(moved, 'kernel')} affected", COLUMNS, affected)


def _kernel_row(result: Result, failing: Sequence[check.Claim]) -> tuple[str, ...]:
    cells_of = [_cells(claim) for claim in sorted(failing, key=check.compiler_first)]
    name, target, _ = cells_of[0]
    waves = paint.number(result.occupancy.waves_per_simd) if result.occupancy else "?"
    texts = "<br>".join(text for _, _, text in cells_of)
    return name, target, waves, texts, tables.code(failing[0].where)


def _cells(claim: check.Claim) -> tuple[str, str, str]:
    """(kernel, target, finding) of a claim as cells of a table."""
    finding = f"{claim.finding.rule} {claim.finding.severity}: {tables.plain(claim.text)}"
    return (
        tables.code(claim.subject) + tables.plain(claim.apart),
        tables.code(claim.target or ""),
        finding,
    )


def _list(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"\n{title}\n\n"
        yield from (f"* {line}\n" for line in lines)


# The outcome as one HTML page: verdict, new and suppressed findings, then the report.

_SHOWN = 50  # claims of a list; the table has all
_SINCE_THE_BASELINE = ("KI501", "KI502", "KI503", "KI504")
"""Rules of the baseline: worse, gone, new, better."""


def render_html(outcome: Outcome, view: View) -> Iterator[str]:
    """The report's page, headed by the verdict of the gate."""
    report = outcome.report
    items: Iterator[Item] = chain(report.results, outcome.problems, report.repeats)
    return html.render(items, view, {"gate": _gate(outcome, view)})


def _gate(outcome: Outcome, view: View) -> dict[str, Any]:
    """The outcome as JSON values: the verdict, and for each list its title, length and worst
    claims."""
    comparison = outcome.comparison
    all_claims = sorted(check.claims(outcome, view), key=lambda claim: worst_first(claim.finding))
    claimed = {id(claim.result) for claim in all_claims}
    results = map(id, outcome.report.results)
    indices = {result: index for index, result in enumerate(results) if result in claimed}
    counted = [claim for claim in all_claims if claim.counts]
    moved = [claim for claim in counted if claim.finding.rule in _SINCE_THE_BASELINE]
    still = [claim for claim in counted if claim.finding.rule not in _SINCE_THE_BASELINE]
    failing = [claim for claim in still if claim.fails]
    about = [claim for claim in still if claim.result is None and not claim.fails]
    excused = [claim for claim in all_claims if claim.suppressed]
    accepted = [claim for claim in all_claims if claim.accepted]

    def listed(title: str, claims: Sequence[check.Claim]) -> tuple[str, int, list[tuple[Any, ...]]]:
        rows = [_claim_values(claim, indices.get(id(claim.result))) for claim in claims[:_SHOWN]]
        return title, len(claims), rows

    return {
        "headline": f"{check.headline(outcome)} · fails on {outcome.fail_on}",
        "passed": outcome.answered and not outcome.failed,
        "since": diff.roll_up(comparison, diff.rows(comparison)) if comparison else "",
        "lists": [
            listed(f"Since {paint.printable(str(outcome.baseline))}", moved),
            listed("Fails", failing),
            listed("About the gate", sorted(about, key=check.compiler_first)),
            listed("Suppressed", excused),
            listed("Accepted by the baseline", accepted),
        ],
        "renamed": [
            (
                paint.printable(pair.old.name),
                paint.printable(pair.new.name),
                paint.printable(pair.new.target),
            )
            for pair in outcome.renamed
        ],
        "remarks": [paint.printable(remark) for remark in outcome.remarks],
    }


def _claim_values(claim: check.Claim, kernel: int | None) -> tuple[Any, ...]:
    """(severity, rule, kernel's index or None, subject, text, location, suppression)."""
    subject = claim.subject + claim.on_target
    about = (claim.finding.severity, claim.finding.rule, kernel, subject if kernel is None else "")
    return (*about, claim.text, claim.where, claim.excuse or None)


# The effective configuration as TOML; each key names its origin.

_BARE = re.compile(r"[A-Za-z0-9_-]+")  # a key that needs no quotes


def render_config(file: ConfigFile | None, options: Mapping[str, Any]) -> Iterator[str]:
    """Lines of TOML with every key that has a value, and where the value comes from. `options`
    holds the keys that the command line overrides."""
    yield f"# {file.path if file else 'no file: what holds by default'}\n"
    stated = file.table if file else {}
    for key in sorted(KEYS, key=lambda key: bool(key.keys)):
        if not key.keys:
            yield from _line(key, stated, (), file, options)
            continue
        inside = stated.get(key.name, [] if key.array else {})
        for index, table in enumerate(inside if key.array else [inside]):
            path: KeyPath = (key.name, index) if key.array else (key.name,)
            yield f"\n[[{key.name}]]\n" if key.array else f"\n[{key.name}]\n"
            for inner in key.keys:
                yield from _line(inner, table, path, file, options)


def _line(
    key: Key,
    stated: Mapping[str, Any],
    path: KeyPath,
    file: ConfigFile | None,
    options: Mapping[str, Any],
) -> Iterator[str]:
    if key.name in options:
        value, origin = options[key.name], "command line"
    elif (name := key.stated_name(stated)) is not None:
        line = file.lines.get((*path, name)) if file else None
        value, origin = stated[name], f"line {line}" if line else "file"
    elif key.default is not None:
        value, origin = key.default, "default"
    else:
        return
    yield f"{key.name} = {_toml(value)}  # {origin}\n"


def _toml(value: Any) -> str:
    """A value as TOML. Strings and numbers are spelled as in JSON."""
    if isinstance(value, dict):
        keys = {key: key if _BARE.fullmatch(key) else _toml(key) for key in value}
        inside = ", ".join(f"{keys[key]} = {_toml(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return value.isoformat() if isinstance(value, date) else json.dumps(value, ensure_ascii=False)
