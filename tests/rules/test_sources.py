"""KI004, KI105, KI207: what a file says of itself, and what it cannot know."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import FIXTURES

from .reading import TUTORIAL, messages_of, results


@pytest.mark.parametrize(
    "name", [TUTORIAL, "variety-clang22-gfx90a.s", "variety-clang19-gfx1100.s", "handwritten.s"]
)
def test_the_padding_of_compilers_is_no_disagreement(name: str) -> None:
    assert [r.kernel.name for r in results(name, "KI004") if r.findings] == []


def test_a_compiler_that_counts_otherwise_than_its_assembler() -> None:
    assert messages_of("variety-clang15-gfx90a.s", "KI004", "sgpr_heavy") == [
        "objects assembled from this file run 6 waves/SIMD, compiled directly 7: "
        "only the assembler reserves XNACK's SGPRs"
    ]


def test_more_sgprs_than_xnack_explains(tmp_path: Path) -> None:
    text = (FIXTURES / "assembly" / "variety-clang15-gfx90a.s").read_text("utf-8")
    edited = tmp_path / "edited.s"
    edited.write_text(text.replace(".amdhsa_next_free_sgpr 96", ".amdhsa_next_free_sgpr 101"))
    assert messages_of(str(edited), "KI004", "sgpr_heavy") == [
        "kernel-info says allocated SGPRs 96 (line 1554), "
        "but directive says allocated SGPRs 112 (line 1515); the first counts"
    ]


@pytest.mark.parametrize("kernel", ["calls", "recursive", "any_block"])
def test_a_call_of_a_known_function_hides_nothing(kernel: str) -> None:
    assert messages_of("variety-clang22-gfx90a.s", "KI105", kernel) == []


@pytest.mark.parametrize("kernel", ["empty", "vgprbound", "sgprbound"])
def test_where_the_compiler_printed_the_same(kernel: str) -> None:
    assert messages_of(TUTORIAL, "KI207", kernel) == []


def test_where_the_compiler_printed_another_number() -> None:
    [message] = messages_of(TUTORIAL, "KI207", "ldsbound")
    assert message.startswith("the compiler printed 4 waves/SIMD, the hardware holds 1: counts ")
