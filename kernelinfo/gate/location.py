"""Source lines for those kernels of code objects that fail; reading them for all takes long."""

from __future__ import annotations

from kernelinfo.analysis.source_lines import lines_of_all
from kernelinfo.gate.outcome import Judged, Outcome
from kernelinfo.kernel import Report
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.budget import BY_DEFAULT, Bounds
from kernelinfo.reading.facts import SourceLine


def located(outcome: Outcome, within: Bounds = BY_DEFAULT) -> Outcome:
    """The same outcome, with what debug information says of the kernels that fail."""
    wanted = {
        one.result.kernel.code_object for one in outcome.failing if one.result.kernel.source is None
    }
    lines: dict[object, dict[str, SourceLine]] = {}
    problems: list[Problem] = []
    for found in lines_of_all((one for one in wanted if one.kind == "code-object"), within):
        if isinstance(found, Problem):
            problems.append(found)
        else:
            lines[found[0]] = found[1]
    if not (lines or problems):
        return outcome

    def placed(one: Judged) -> Judged:
        kernel = one.result.kernel
        source = lines.get(kernel.code_object, {}).get(kernel.symbol)
        if source is None:
            return one
        return one._replace(result=one.result._replace(kernel=kernel._replace(source=source)))

    judged = tuple(map(placed, outcome.judged))
    all_problems = (*outcome.problems, *problems)
    report = Report(tuple(one.result for one in judged), all_problems, outcome.report.repeats)
    return outcome._replace(judged=judged, problems=all_problems, report=report)
