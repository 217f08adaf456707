"""Source lines of failing kernels, from debug information. Reading all of it takes long."""

from __future__ import annotations

from kernelinfo.analysis.options import Options
from kernelinfo.analysis.source_lines import lines_of, opened_again
from kernelinfo.errors import ReadError
from kernelinfo.gate.outcome import Outcome
from kernelinfo.kernel import Result
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.report import Report
from kernelinfo.reading.containers.parts import problem
from kernelinfo.reading.facts import SourceLine


def located(outcome: Outcome, options: Options) -> Outcome:
    """The outcome with source lines for failing kernels of code objects.

    Debug information that cannot be read is a problem of the outcome.
    """
    failing = [one.result.kernel for one in outcome.failing if one.result.kernel.source is None]
    code_objects = dict.fromkeys(kernel.code_object for kernel in failing)
    wanted = (one for one in code_objects if one.kind == "code-object")
    lines: dict[CodeObject, dict[str, SourceLine]] = {}
    problems = list(outcome.problems)
    for code_object, blob in opened_again(wanted, options):
        try:
            lines[code_object] = lines_of(blob)
        except ReadError as error:
            problems.append(problem(blob, error.message))

    def placed(result: Result) -> Result:
        kernel = result.kernel
        source = lines.get(kernel.code_object, {}).get(kernel.symbol)
        return result if source is None else result._replace(kernel=kernel._replace(source=source))

    results = tuple(map(placed, outcome.report.results))
    report = Report(results, tuple(problems), outcome.report.repeats)
    excused = tuple((at, one._replace(result=results[at])) for at, one in outcome.excused)
    return outcome._replace(report=report, excused=excused)
