"""Instructions and the compiler's comments on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelinfo.reading.assembly import read
from kernelinfo.reading.assembly.instructions import count_code
from kernelinfo.reading.blob import Blob
from kernelinfo.reading.containers import open_paths
from kernelinfo.reading.data import searchable
from kernelinfo.reading.facts import Code, LoopSpills, SpillPlace, facts_of
from tests.conftest import CORPUS, FIXTURES, needs_corpus

ASSEMBLY = FIXTURES / "assembly"


NESTED = b"""kernel:
; %bb.0:
\tscratch_store_dword off, v1, s0         ; 4-byte Folded Spill
.LBB0_1:                                ; =>This Loop Header: Depth=1
                                        ;     Child Loop BB0_2 Depth 2
\tds_read_b32 v0, v1
.LBB0_2:                                ;   Parent Loop BB0_1 Depth=1
                                        ; =>  This Inner Loop Header: Depth=2
\ts_clause 0x1                            ; 8-byte Folded Reload
\tscratch_load_b32 v1, off, s0
\tscratch_load_b32 v2, off, s0 offset:4
; %bb.3:                                ;   in Loop: Header=BB0_1 Depth=1
\tscratch_load_dwordx2 v[2:3], off, s0    ; 8-byte Folded Reload
\tv_accvgpr_read_b32 v4, a0               ;  Reload Reuse
\ts_barrier_signal -1
\ts_barrier_wait -1
; %bb.4:
\tscratch_load_dword v1, off, s0          ; 4-byte Folded Reload
\tv_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]
\ts_endpgm
"""


ARRAY = b"""kernel:
; %bb.0:
\tbuffer_store_dword v0, off, s[0:3], 0 offset:4
\tscratch_store_dwordx4 off, v[0:3], off
.LBB0_1:                                ; =>This Inner Loop Header: Depth=1
\tbuffer_load_dword v1, v2, s[0:3], 0 offen
\tbuffer_load_dword v1, v2, s[4:7], 0 offen
\tscratch_load_dword v1, v2, off
\tscratch_load_dword v1, off, s0          ; 4-byte Folded Reload
; %bb.2:
\tscratch_load_dword v1, v2, off
\ts_endpgm
"""


def test_scratch_inside_loops_is_counted() -> None:
    """By either kind of instruction; not reloads, nor buffers of other resources."""
    assert count_code(ARRAY).scratch_in_loops == 2
    assert count_code(ARRAY.replace(b"%bb.", b"%block")).scratch_in_loops is None


def code(path: Path) -> dict[str, Code | None]:
    blobs = [one for one in open_paths([str(path)]) if isinstance(one, Blob)]
    modules = (module for blob in blobs for module in read(searchable(blob.data.read())))
    kernels = (kernel for module in modules for kernel in module.kernels)
    return {k.symbol: k.read_code and k.read_code() for k in kernels}


def test_each_spill_counts_for_its_innermost_loop() -> None:
    found = count_code(NESTED)
    assert (found.spills, found.reloads, found.agpr_moves) == (1, 4, 1)
    assert found.loops == (LoopSpills(".LBB0_2", 2, 0, 2), LoopSpills(".LBB0_1", 1, 0, 1))


CALLS = b"""kernel:
; %bb.0:
\ts_getpc_b64 s[4:5]
\ts_add_u32 s4, s4, inside@rel32@lo+4
\ts_addc_u32 s5, s5, inside@rel32@hi+12
\ts_getpc_b64 s[14:15]
\ts_add_u32 s14, s14, outside@gotpcrel32@lo+4
\ts_addc_u32 s15, s15, outside@gotpcrel32@hi+12
\ts_load_dwordx2 s[14:15], s[14:15], 0x0
\ts_getpc_b64 s[20:21]
\ts_add_u32 s20, s20, table@rel32@lo+4
\ts_addc_u32 s21, s21, table@rel32@hi+12
\ts_load_dwordx2 s[18:19], s[20:21], s17 offset:0x0
\tscratch_store_dword off, v1, s0         ; 4-byte Folded Spill
\t.loc\t0 4 2                             ; src/k.hip:4:2
\ts_swappc_b64 s[30:31], s[4:5]
\t.loc\t0 8 3                             ; src/k.hip:8:3 @[ src/k.hip:90:1 ]
\tscratch_load_dword v1, off, s0          ; 4-byte Folded Reload
\tscratch_load_dword v2, off, s0          ; 4-byte Folded Reload
\ts_swappc_b64 s[30:31], s[14:15]
\tscratch_load_dword v1, off, s0          ; 4-byte Folded Reload
\ts_swappc_b64 s[30:31], s[18:19]
\tv_readfirstlane_b32 s4, v0
\ts_swappc_b64 s[30:31], s[4:5]
.LBB0_1:                                ; =>This Inner Loop Header: Depth=1
\t.loc\t0 0 3                             ; src/k.hip:0:3
\tscratch_load_dword v1, off, s0          ; 4-byte Folded Reload
\t.loc\t0 9 3                             ; src/k.hip:9:3
\tscratch_load_dword v1, off, s0          ; 4-byte Folded Reload
\ts_endpgm
"""


def test_callees_are_named_by_the_address_in_the_register_of_the_call() -> None:
    """A table of functions is none, nor is an address that another value replaced."""
    found = count_code(CALLS)
    assert found.calls == 4
    assert (found.callees, found.outside) == (("inside", "outside"), ("outside",))


def test_spills_stand_at_a_source_line_behind_a_call() -> None:
    found = count_code(CALLS)
    assert found.place == SpillPlace("src/k.hip:8", "inside", 2)
    [loop] = found.loops or ()
    assert loop.place == SpillPlace("src/k.hip:9", None, 1)


def test_the_lines_of_spills_are_those_that_the_text_states() -> None:
    """grep -B: the three reloads of the loop behind `.loc 0 87 14`."""
    found = code(FIXTURES / "lines" / "attention-clang22-gfx942.s")["attention"]
    assert found is not None
    [loop] = found.loops or ()
    assert loop.place == SpillPlace("src/attention.hip:87", None, 3)


@pytest.mark.parametrize("path", sorted(ASSEMBLY.glob("variety-*.s")), ids=lambda path: path.stem)
def test_every_compiler_names_its_callees(path: Path) -> None:
    found = code(path)
    names = {symbol: of.callees for symbol, of in found.items() if of and of.callees}
    assert names == {"_Z5callsPi": ("_Z6lookupi",), "_Z9recursivePi": ("_Z7descendi",)}


def test_instructions_are_counted_by_kind() -> None:
    found = count_code(NESTED)
    assert (found.matrix, found.lds, found.scratch, found.barriers) == (1, 1, 5, 1)


@pytest.mark.parametrize(
    ("name", "in_loop"),
    [
        ("occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s", 14),
        ("occupancy-clang19-gfx90a.s", 14),
        ("occupancy-clang22-gfx90a.s", 12),
    ],
)
def test_the_tutorials_spills(name: str, in_loop: int) -> None:
    found = code(ASSEMBLY / name)["_Z9sgprboundiPd"]
    assert found is not None
    assert (found.spills, found.reloads) == (14, 14)
    assert found.loops == (LoopSpills(".LBB3_2", 1, 0, in_loop),)


def test_a_matrix_kernel_and_its_neighbours() -> None:
    found = code(ASSEMBLY / "variety-clang22-gfx90a.s")
    matrix, calls, array = (found[k] for k in ("_Z6matrixPf", "_Z5callsPi", "_Z11local_arrayPii"))
    assert matrix is not None
    assert matrix.matrix == 8
    assert calls is not None
    assert calls.calls == 1
    assert array is not None
    assert (array.spills, array.reloads, array.loops) == (0, 0, ())


def test_without_the_compilers_comments_spills_are_not_known() -> None:
    found = code(ASSEMBLY / "handwritten.s")
    assert [c and (c.spills, c.loops) for c in found.values()] == [(None, None)]


@needs_corpus
def test_every_compiler_comments_its_spills() -> None:
    """Spill counts of the metadata and comments in the text agree on who spills to scratch."""
    compared = 0
    for path in sorted(CORPUS.glob("core/*.s")):
        for module in read(searchable(path.read_bytes())):
            for kernel in module.kernels:
                spilled = {f.value for f in facts_of(kernel.stated) if f.name == "vgpr_spills"}
                found = kernel.read_code and kernel.read_code()
                if not spilled or not found or found.spills is None:
                    continue
                moved = found.spills + (found.agpr_moves or 0)
                assert (moved > 0) == (max(spilled) > 0), (path.name, kernel.symbol)
                compared += 1
    assert compared > 500


@needs_corpus
def test_forms_of_text_make_no_difference() -> None:
    forms = CORPUS / "textforms"
    plain = code(forms / "crlf.s")
    for name in ("bom.s", "utf16.s", "cr-only.s", "tabs-expanded.s", "nospace.s"):
        assert code(forms / name) == plain, name


def test_takes_time_linear_in_the_text() -> None:
    header = b"; %bb.1:                                ;   in Loop: Header=BB0_1 Depth=1\n"
    assert count_code(b"k:\n" + header * 200_000 + b"\tv ; 4-byte Folded Spill\n").spills == 1
    assert count_code(b"k:\n; %bb.0:\n" + b"\t;\n" * 300_000 + b"-byte Folded ").spills == 0
    spilling = b"k:\n; %bb.0:\n\ts_swappc_b64 s[30:31], s[4:5]\n\tv ; 4-byte Folded Spill\n"
    lines = [b"\t.loc 0 ;" + part * 300_000 for part in (b" ", b":1", b":", b"1:1")]
    lines += [b"\ts_add_u32 s4," + part * 100_000 for part in (b" ", b"a@", b" @rel32 ")]
    for line in lines:
        assert count_code(spilling + line + b"\n").spills == 1
