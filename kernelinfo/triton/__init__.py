"""Kernels that Triton compiles, before any of them runs; Triton 3.4 or newer, no GPU needed.

>>> import kernelinfo.triton
>>> kernelinfo.triton.of(compiled).limiters
>>> with kernelinfo.triton.collect() as collected:
...     model(inputs)
>>> collected.report.max("vgpr_spills")
>>> pruner = kernelinfo.triton.prune(
...     lambda: matmul, target=target, signature=signature, at_least_waves=2
... )
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from logging import getLogger
from typing import Any

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.options import Options
from kernelinfo.errors import KernelinfoError, OptionError, ReadError
from kernelinfo.hardware import targets
from kernelinfo.kernel import Item, Kernel, counted, waves_per_simd
from kernelinfo.kernel.report import Report
from kernelinfo.model.limits import RESOURCES
from kernelinfo.opening import open_regular
from kernelinfo.reading.blob import Blob, Found, Problem
from kernelinfo.reading.containers import open_bytes
from kernelinfo.rules import BY_NUMBER, findings
from kernelinfo.triton.messages import say

try:
    import triton
except ImportError:  # `of` does without
    triton = None


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
    path = _code_path(compiled.metadata_group) or "<hsaco>"
    metadata = compiled.metadata._asdict()
    code = _opened(path, compiled.asm["hsaco"], metadata, compiled.src)
    report = Report.of(Analysis(Options()).analyse_path(path, code))
    for problem in report.problems:
        raise ReadError(problem.located)
    return report.kernel(compiled.metadata.name)


def _code_path(files: Mapping[str, str]) -> str | None:
    """Path of the code object among the files of a compilation; None for a compilation by another
    vendor's backend."""
    return next((str(path) for name, path in files.items() if name.endswith(".hsaco")), None)


def _opened(path: str, code: bytes, metadata: Mapping[str, Any], source: Any) -> Iterator[Found]:
    """The code object of a file in Triton's cache, with its metadata."""
    stated = _sidecar(metadata, source)
    for item in open_bytes(code, path):
        yield item._replace(sidecar=stated) if isinstance(item, Blob) else item


def _sidecar(metadata: Mapping[str, Any], source: Any) -> dict[str, Any]:
    """The metadata in the form of its JSON, plus the constexprs, which Triton 3 does not write."""
    values = dict(metadata)
    target = values.get("target", {})
    values["target"] = target if isinstance(target, Mapping) else vars(target)
    constants = getattr(source, "constants", {})  # none if Triton compiled a file of IR
    names = source.fn.arg_names if constants else []
    values["constants"] = {
        names[place[0]]: value for place, value in constants.items() if len(place) == 1
    }
    return values


def _require_triton() -> Any:
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
        self._analysis = Analysis(Options())
        self._kernels: dict[str, list[Item]] = {}
        """Path of a code object -> its kernels and problems."""
        self._unread: list[Problem] = []

    @property
    def report(self) -> Report:
        """The kernels so far, each compilation once, in the order in which they were requested.

        `problems` has the code objects that could not be read."""
        report = Report.of(chain.from_iterable(list(self._kernels.values())))
        return Report(report.results, (*self._unread, *report.problems))

    def add(self, compilation: dict[str, Any]) -> None:
        """Keep the code object of one call of the listener; other vendors' are ignored."""
        path = _code_path(compilation["metadata_group"])
        if path is None or path in self._kernels:
            return
        try:
            with open_regular(path) as file:
                code = file.read()
        except OSError as error:
            unread = say("compiled-unreadable", error=str(error.strerror).lower())
            self._unread.append(Problem(path, unread))
            return
        opened = _opened(path, code, compilation["metadata"], compilation["src"])
        self._kernels[path] = list(self._analysis.analyse_path(path, opened))


@contextmanager
def collect() -> Iterator[Collected]:
    """The kernels that Triton compiles in the `with` block, cached ones too, as `Collected`.

    It sets `triton.knobs.compilation.listener`, calls the listener that was there before as Triton
    would, and puts it back. Triton does not report a kernel that this process compiled before,
    because it is not compiled again. Raises `KernelinfoError` without Triton 3.4 or newer.
    """
    knobs = _require_triton().knobs.compilation
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


# Configurations of an autotuner that cannot win, dropped before any of them runs.

_LOG = getLogger("kernelinfo.triton")

_OF_THE_CALL = ("grid", "warmup")
"""Keywords of a launch that are neither arguments nor compile options."""
_HINTS = {"": "", "16": "D", "16S": "DS"}
"""Hint of a type in a signature → the letters by which Triton's launcher specializes."""

Pruner = Callable[..., list[Any]]
"""`early_config_prune`: (configurations, arguments by name, keywords) to configurations."""


def prune(
    fn: Any,
    *,
    target: Any,
    signature: Mapping[str, str],
    at_least_waves: float = 1,
    no_spills: bool = False,
) -> Pruner:
    """A function for `prune_configs_by={"early_config_prune": …}` of `triton.autotune`.

    It compiles each configuration for `target` (a `GPUTarget`), in order and cached by Triton, and
    drops those below `at_least_waves` waves per SIMD, those that cannot start or compile, and with
    `no_spills` those that spill registers. The logger `kernelinfo.triton` says at level INFO which
    and why. If none would remain, all stay. Triton 3.4 or newer; no GPU is needed.

    `fn` is the kernel, or a function that returns it: the decorator needs the pruner before the
    kernel exists. `signature` maps the kernel's arguments to types as `triton.tools.compile` has
    them: `"*fp16:16"` for a pointer or `"i32:16"` for a number that is a multiple of 16, `"i32:1"`
    for the number 1, and `"*fp16:16S"` for such a pointer to a tensor below 2 GiB. Constexprs come
    from the configuration, the call or their defaults. Raises `UnknownTargetError`, and
    `OptionError` for a target of another vendor.
    """
    if target.backend != "hip":
        raise OptionError(say("triton-other-vendor", backend=target.backend))
    targets.find(target.arch.partition(":")[0])

    def reason(kernel: Any, config: Any, arguments: Mapping[str, Any]) -> str:
        """The reason in words to drop a configuration; empty if it stays."""
        triton = _require_triton()
        given = {**arguments, **config.all_kwargs()}
        try:
            compiled = _compiled(triton, kernel, given, target, signature)
        except (triton.TritonError, RuntimeError) as error:
            text = str(error).strip() or type(error).__name__
            return say("config-not-compiled", error=text.splitlines()[-1])
        kernel = of(compiled)
        for finding in findings(kernel, kernel.occupancy(), [BY_NUMBER["KI306"]]):
            _LOG.info("%s: %s", _named(config), finding.message)
        return reason_to_drop(kernel, at_least_waves, no_spills=no_spills)

    def pruned(configs: Sequence[Any], named_args: Mapping[str, Any], **keywords: Any) -> list[Any]:
        kernel = fn if hasattr(fn, "arg_names") else fn()
        arguments = {**named_args, **keywords}
        return _kept(configs, [reason(kernel, config, arguments) for config in configs])

    return pruned


def _kept(configs: Sequence[Any], reasons: Sequence[str]) -> list[Any]:
    """The configurations that have no reason to be dropped, in their order; all configurations if
    none would stay."""
    kept = []
    for config, reason in zip(configs, reasons, strict=True):
        if reason:
            _LOG.info("dropped %s: %s", _named(config), reason)
        else:
            kept.append(config)
    if not kept:
        _LOG.warning("all %d configurations stay: none would be left", len(configs))
    return kept or list(configs)


def _named(config: Any) -> str:
    return ", ".join(f"{name}={value}" for name, value in config.all_kwargs().items())


def _compiled(
    triton: Any, fn: Any, given: dict[str, Any], target: Any, signature: Mapping[str, str]
) -> Any:
    """The kernel compiled with these arguments and options."""
    while not isinstance(fn, triton.JITFunction):  # an autotuner or heuristics around it
        given |= {name: value(given) for name, value in getattr(fn, "values", {}).items()}
        fn = fn.fn
    arguments = (*_OF_THE_CALL, *fn.arg_names)
    options = {name: value for name, value in given.items() if name not in arguments}
    source = _source(triton, fn, given, target, signature)
    return triton.compile(source, target=target, options=options)


def _source(
    triton: Any, fn: Any, given: Mapping[str, Any], target: Any, signature: Mapping[str, str]
) -> Any:
    """The kernel with its types and constants. Raises `OptionError` for an argument that has
    neither, and for an unknown hint."""
    backend = triton.compiler.make_backend(target)
    types: dict[str, str] = {}
    constants: dict[str, Any] = {}
    specialized = {}
    for place, parameter in enumerate(fn.params):
        name = parameter.name
        kind, _, hint = signature.get(name, "constexpr").partition(":")
        if kind == "constexpr":
            constants[name] = _constant(parameter, given)
        elif hint == "1":
            kind, constants[name] = "constexpr", 1
        elif hint in _HINTS:
            specialized[(place,)] = backend.parse_attr(_HINTS[hint])
        else:
            hints = ", ".join(f":{letters}" for letters in ("1", *_HINTS) if letters)
            raise OptionError(say("argument-hint", name=name, hint=hint, kind=kind, known=hints))
        types[name] = kind
    return triton.compiler.ASTSource(fn, types, constants, specialized)


def _constant(parameter: Any, given: Mapping[str, Any]) -> Any:
    """The value of a parameter without a type: as given if it is a constexpr or None was given,
    else its default. Raises `OptionError` if it has neither."""
    name = parameter.name
    if name in given and (parameter.is_constexpr or given[name] is None):
        return given[name]
    if parameter.has_default:
        return parameter.default
    raise OptionError(say("argument-without-type", name=name))


def reason_to_drop(kernel: Kernel, at_least_waves: float, *, no_spills: bool) -> str:
    """The reason in words why a kernel does not meet the bounds; empty if it does."""
    occupancy = kernel.occupancy()
    if not occupancy.launchable:
        return say("config-cannot-start", obstacles="; ".join(occupancy.obstacles))
    if occupancy.waves_per_simd < at_least_waves:
        limits = " and ".join(RESOURCES[limiter] for limiter in occupancy.limiters)
        waves = waves_per_simd(occupancy.waves_per_simd)
        return say("config-limited", waves=waves, limits=limits, at_least=at_least_waves)
    if no_spills and (spilled := kernel.spilled_registers):
        return say("config-spills", registers=counted(spilled, "register"))
    return ""
