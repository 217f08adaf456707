"""The HTML page of a report whose kernels have source and instructions side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from kernelinfo.analysis.options import Options
from kernelinfo.kernel import Item, Result
from kernelinfo.pressure.measure import Look, measure_again
from kernelinfo.pressure.source_text import SourceText
from kernelinfo.reading.blob import Problem
from kernelinfo.render import View
from kernelinfo.render.html import render
from kernelinfo.render.html.pieces import PagePiece, piece
from kernelinfo.render.pressure.html import dataset
from kernelinfo.render.pressure.panes import SCRIPTS, PageTexts, panes

_LOOK = Look(curve=True, code=True, blocks=True)


def with_source(
    view: View,
    root: str | None,
    paths: Sequence[str],
    options: Options,
    tell: Callable[[Problem], object],
) -> Callable[[Iterable[Item]], Iterator[str]]:
    """A renderer of the page. It opens files again for the code of their kernels; `tell` gets
    problems of that.

    `root` and `paths` are those of `SourceText`; raises `OptionError` as it does.
    """
    texts = PageTexts(SourceText(root, paths))
    code = partial(_pieces, texts=texts, options=options, tell=tell)
    return partial(render, view=view, code=code, scripts=("pressure.js", *SCRIPTS))


def _pieces(
    results: Sequence[Result],
    texts: PageTexts,
    options: Options,
    tell: Callable[[Problem], object],
) -> Iterator[PagePiece]:
    """A piece for each kernel, null without instructions, and the texts that no piece holds yet."""
    for one in measure_again(results, _LOOK, options, tell=tell):
        found = {"pressure": dataset(one), "panes": panes(one, texts)} if one else None
        yield piece(found, "code")
        yield from texts.fresh()
