"""Kernels of what Triton has compiled, from the bytes and metadata that it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.options import Options
from kernelinfo.errors import KernelinfoError, ReadError
from kernelinfo.kernel import Kernel
from kernelinfo.kernel.report import Report
from kernelinfo.opening import open_regular
from kernelinfo.reading.blob import Blob, Found, Problem
from kernelinfo.reading.containers import open_bytes
from kernelinfo.triton.messages import say

try:
    import triton
except ImportError:  # `of` does without
    triton = None


class TritonCode(NamedTuple):
    """One code object of Triton with its metadata."""

    path: str
    """The file in Triton's cache."""
    code: bytes
    stated: Mapping[str, Any]
    """Metadata, with the target as a dictionary and the constexprs by name."""


def of(compiled: Any) -> Kernel:
    """The kernel that Triton compiled, with the launch of its metadata.

    LDS is `shared`, the workgroup has `num_warps` waves, `code_object.options` has the constexprs
    and compile options. `compiled`, a `triton.compiler.CompiledKernel`, is the result of
    `triton.compile`, `kernel.warmup` or `kernel[grid](…)`. Raises `ReadError` for a kernel of
    another vendor or damaged metadata.
    """
    if "hsaco" not in compiled.asm:
        kinds = ", ".join(compiled.asm)
        raise ReadError(say("triton-other-gpu", kinds=kinds))
    path = code_path(compiled.metadata_group) or "<hsaco>"
    stated = stated_of(compiled.metadata._asdict(), compiled.src)
    report = report_of([TritonCode(path, compiled.asm["hsaco"], stated)])
    for problem in report.problems:
        raise ReadError(problem.located)
    return report.kernel(compiled.metadata.name)


def code_path(files: Mapping[str, str]) -> str | None:
    """Path of the code object among the files of a compilation; None for another vendor."""
    return next((str(path) for name, path in files.items() if name.endswith(".hsaco")), None)


def stated_of(metadata: Mapping[str, Any], source: Any) -> dict[str, Any]:
    """The metadata as its JSON would be, with the constexprs, which Triton 3 does not write."""
    values = dict(metadata)
    target = values.get("target", {})
    values["target"] = target if isinstance(target, Mapping) else vars(target)
    constants = getattr(source, "constants", {})  # none if Triton compiled a file of IR
    names = source.fn.arg_names if constants else []
    values["constants"] = {
        names[place[0]]: value for place, value in constants.items() if len(place) == 1
    }
    return values


def report_of(codes: Iterable[TritonCode]) -> Report:
    """The report of these code objects."""
    analysis = Analysis(Options())
    items = (item for code in codes for item in analysis.analyse_path(code.path, _blobs(code)))
    return Report.of(items)


def _blobs(code: TritonCode) -> Iterator[Found]:
    for item in open_bytes(code.code, code.path):
        yield item._replace(sidecar=code.stated) if isinstance(item, Blob) else item


def require_triton() -> Any:
    """Triton itself. Raises `KernelinfoError` if it is missing or older than 3.4."""
    if triton is None:
        raise KernelinfoError(say("triton-missing"))
    if not hasattr(triton, "knobs"):
        raise KernelinfoError(say("triton-old"))
    return triton


# Reports of all that Triton compiles for a while.

_Listener = Callable[..., Any]


class Collected:
    """The kernels that Triton compiled or found in its cache since `collect` began."""

    def __init__(self) -> None:
        self._codes: dict[str, TritonCode] = {}
        self._unread: list[Problem] = []

    @property
    def report(self) -> Report:
        """The kernels until now, each compilation once, in the order in which they were asked for.

        `problems` has the code objects that could not be read."""
        report = report_of(list(self._codes.values()))
        return Report(report.results, (*self._unread, *report.problems))

    def add(self, compilation: dict[str, Any]) -> None:
        """Keep the code object of one call of the listener; no other vendor's."""
        path = code_path(compilation["metadata_group"])
        if path is None or path in self._codes:
            return
        try:
            with open_regular(path) as file:
                code = file.read()
        except OSError as error:
            unread = say("compiled-unreadable", error=str(error.strerror).lower())
            self._unread.append(Problem(path, unread))
            return
        stated = stated_of(compilation["metadata"], compilation["src"])
        self._codes[path] = TritonCode(path, code, stated)


@contextmanager
def collect() -> Iterator[Collected]:
    """The kernels that Triton compiles in the `with` block, cached ones too, as `Collected`.

    It sets `triton.knobs.compilation.listener`, calls the listener that was there before as Triton
    would, and puts it back. A kernel that this process compiled before is not asked for again, so
    Triton does not tell of it. Raises `KernelinfoError` without Triton 3.4 or newer.
    """
    knobs = require_triton().knobs.compilation
    collected, earlier = Collected(), knobs.listener
    listener = knobs.listener = _listener(collected, earlier)
    try:
        yield collected
    finally:
        if knobs.listener is listener:  # else another one was set, which may call ours
            knobs.listener = earlier


def _listener(collected: Collected, earlier: _Listener | None) -> _Listener:
    def listen(**compilation: Any) -> Any:
        collected.add(compilation)
        return earlier(**compilation) if earlier else None

    return listen
