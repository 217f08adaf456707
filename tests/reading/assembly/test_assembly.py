"""Assembly text, in every form it is met in, gives the facts that it states."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from pathlib import Path

import pytest

import kernelinfo.reading.data
from kernelinfo.reading.assembly import read, scan
from kernelinfo.reading.blob import Blob
from kernelinfo.reading.containers import open_bytes
from kernelinfo.reading.data import searchable
from kernelinfo.reading.facts import (
    Features,
    KernelFacts,
    Module,
    Source,
    facts_of,
)
from kernelinfo.reading.target_id import compiler_of
from tests.conftest import needs_corpus, with_code

SHARED = Path(__file__).resolve().parents[4] / "shared"

BUNDLE, ENTRY = scan.BUNDLE, "hip-amdgcn-amd-amdhsa-gfx90a"
INFO = """\
; Kernel info:
; codeLenInByte = 56
; TotalNumSgprs: 10
; NumVgprs: 33
; NumAgprs: 8
; TotalNumVgprs: 44
; ScratchSize: 16
; MemoryBound: 0
; LDSByteSize: 512 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 5
; NumSGPRsForWavesPerEU: 10
; NumVGPRsForWavesPerEU: 44
; AccumOffset: 36
; Occupancy: 8
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
"""

FUNCTION = f"""\
\t.globl\tk                       ; -- Begin function k
k:                                      ; @k
; %bb.0:
\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel k
\t\t.amdhsa_group_segment_fixed_size 512
\t\t.amdhsa_private_segment_fixed_size 16
\t\t.amdhsa_uses_dynamic_stack 0
\t\t.amdhsa_next_free_vgpr 44
\t\t.amdhsa_next_free_sgpr 4
\t\t.amdhsa_accum_offset 36
\t\t.amdhsa_reserve_vcc 1
\t\t.amdhsa_reserve_flat_scratch 1
\t\t.amdhsa_reserve_xnack_mask 1
\t\t.amdhsa_tg_split 0
\t\t.amdhsa_some_day_new 7
\t.end_amdhsa_kernel
\t.text
                                        ; -- End function
\t.set k.has_recursion, 0
\t.set k.has_dyn_sized_stack, or(0, 1)
\t.set k.has_indirect_call, 0
\t.section\t.AMDGPU.csdata,"",@progbits
{INFO}\t.text
\t.type\ttable,@object                  ; @table
"""

YAML = """\
---
amdhsa.kernels:
  - .agpr_count:     8
    .args:
      - .offset:         0
        .size:           4
        .value_kind:     hidden_dynamic_lds_size
    .group_segment_fixed_size: 512
    .max_flat_workgroup_size: 256
    .name:           k
    .private_segment_fixed_size: 16
    .reqd_workgroup_size:
      - 8
      - 4
      - 2
    .sgpr_count:     10
    .sgpr_spill_count: 1
    .symbol:         k.kd
    .uses_dynamic_stack: false
    .vgpr_count:     44
    .vgpr_spill_count: 2
    .wavefront_size: 64
amdhsa.target:   'amdgcn-amd-amdhsa--gfx90a:xnack+'
amdhsa.version:
  - 1
  - 2
...
"""
METADATA = f"\t.amdgpu_metadata\n{YAML}\n\t.end_amdgpu_metadata\n"
TARGET = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx90a:xnack+"\n'
TEXT = (
    f"\t.text\n{TARGET}\t.amdhsa_code_object_version 5\n{FUNCTION}"
    f'\t.ident\t"clang version 22.0.0"\n{METADATA}'
)


def modules(text: str | bytes, arch: str | None = None) -> list[Module]:
    content = text if isinstance(text, bytes) else text.encode()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        [blob] = open_bytes(content, "kernels.s")
        assert isinstance(blob, Blob)
        content = bytes(blob.data)
    return list(read(searchable(content), arch=arch))


def module(text: str | bytes, arch: str | None = None) -> Module:
    (only,) = modules(text, arch)
    return only


def kernel(text: str | bytes, arch: str | None = None) -> KernelFacts:
    (only,) = module(text, arch).kernels
    return only


def stated(kernel: KernelFacts, source: Source) -> dict[str, object]:
    return {fact.name: fact.value for fact in facts_of(kernel.stated) if fact.source == source}


def complaints(text: str | bytes) -> list[str]:
    return [warning.message for warning in module(text).warnings]


def test_every_source_is_kept_with_its_facts() -> None:
    found = kernel(TEXT)
    assert (found.symbol, found.line) == ("k", 5)
    assert found.code_bytes == 56
    assert stated(found, "kernel-info") == {
        "sgprs": 10,
        "vgprs": 44,
        "arch_vgprs": 33,
        "agprs": 8,
        "scratch_bytes_per_lane": 16,
        "lds_bytes": 512,
        "reserved_sgprs": 16,
        "reserved_vgprs": 48,
        "accum_offset": 36,
        "compiler_waves_per_simd": 8,
        "tg_split": False,
    }
    assert stated(found, "directive") == {
        "lds_bytes": 512,
        "scratch_bytes_per_lane": 16,
        "dynamic_stack": False,
        "accum_offset": 36,
        "tg_split": False,
        "reserved_vgprs": 48,
        "reserved_sgprs": 16,
    }
    assert stated(found, "metadata") == {
        "vgprs": 44,
        "agprs": 8,
        "sgprs": 10,
        "lds_bytes": 512,
        "scratch_bytes_per_lane": 16,
        "vgpr_spills": 2,
        "sgpr_spills": 1,
        "max_workgroup_size": 256,
        "required_workgroup": (8, 4, 2),
        "wave_size": 64,
        "dynamic_stack": False,
        "dynamic_lds": True,
    }
    assert stated(found, "symbol") == {
        "recursion": False,
        "dynamic_stack": True,
        "indirect_call": False,
    }


def test_facts_know_their_lines() -> None:
    lines = TEXT.splitlines()
    found = kernel(TEXT)
    by_source = {}
    for fact in facts_of(found.stated):
        [place] = [place for place in found.places if place.source == fact.source]
        line = place.begin + place.within[fact.name]
        by_source[fact.source, fact.name] = lines[line - 1]
    assert by_source["kernel-info", "vgprs"] == "; TotalNumVgprs: 44"
    assert by_source["directive", "accum_offset"] == "\t\t.amdhsa_accum_offset 36"
    assert by_source["symbol", "recursion"] == "\t.set k.has_recursion, 0"
    assert by_source["metadata", "vgprs"] == "  - .agpr_count:     8"


def test_a_module_says_what_it_is() -> None:
    found = module(TEXT)
    assert found.kind == "assembly"
    assert found.target == "gfx90a"
    assert found.features == Features(xnack="on", sramecc="any")
    assert found.code_object_version == 5
    assert found.stamps == ("clang version 22.0.0",)
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("spelling", "version", "target", "features"),
    [
        ("amdgcn-amd-amdhsa--gfx906+sram-ecc", 3, "gfx906", Features("off", "on")),
        ("amdgcn-amd-amdhsa--gfx900+xnack", 3, "gfx900", Features("on", "off")),
        ("amdgcn-amd-amdhsa--gfx90a", 4, "gfx90a", Features("any", "any")),
        ("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", 6, "gfx90a", Features("off", "on")),
        ("amdgcn-amd-amdpal--gfx1030", 5, "gfx1030", Features("unsupported", "unsupported")),
        ("amdgpu9.42-amd-amdhsa-unknown-gfx942", 6, "gfx942", Features("any", "any")),
        ("amdgpu9.0a-amd-amdhsa-unknown-", 6, "gfx90a", Features("any", "any")),
        ("amdgpu10.30-amd-amdhsa", 6, "gfx1030", Features("unsupported", "unsupported")),
        ("amdgcn-amd-amdhsa--gfx9-4-generic", 6, "gfx9-4-generic", Features("any", "any")),
        (
            "amdgpu12.50s-amd-amdhsa-unknown-gfx1250-strict",
            6,
            "gfx1250-strict",
            Features(None, "any"),
        ),
        ("amdgcn-amd-amdhsa--gfx1399", 6, "gfx1399", Features(None, None)),
    ],
)
def test_all_spellings_of_a_target(
    spelling: str, version: int, target: str, features: Features
) -> None:
    text = f'.amdgcn_target "{spelling}"\n.amdhsa_code_object_version {version}\n'
    assert (module(text).target, module(text).features) == (target, features)


@pytest.mark.parametrize(
    "text",
    [
        METADATA,
        f'{INFO}\t.amd_amdgpu_isa "amdgcn-mesa-mesa3d--gfx90a"\n',
        f'\t.hsa_code_object_isa 9,0,10,"AMD","AMDGPU"\n{INFO}',
        f"# __{BUNDLE}START__ {ENTRY}\n{INFO}# __{BUNDLE}END__ {ENTRY}\n",
    ],
    ids=["metadata", "amd_amdgpu_isa", "hsa_code_object_isa", "bundle"],
)
def test_a_target_is_sought_elsewhere_when_its_line_is_missing(text: str) -> None:
    assert module(text).target == "gfx90a"
    assert module(text, arch="gfx90a:xnack-").warnings == ()


def test_arch_counts_only_where_the_text_is_silent() -> None:
    assert module(INFO).target is None
    assert "reserved_vgprs" not in stated(kernel(INFO), "kernel-info")
    assert module(INFO, arch="gfx90a").target == "gfx90a"
    assert stated(kernel(INFO, arch="gfx1100"), "kernel-info")["reserved_vgprs"] == 48
    contradicted = module(TEXT, arch="gfx1100")
    assert contradicted.target == "gfx90a"
    assert [warning.message for warning in contradicted.warnings] == [
        "--arch gfx1100 is not read: the text is for gfx90a"
    ]


@pytest.mark.parametrize(
    "form",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.encode("utf-16"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
        TEXT.expandtabs().encode(),
        TEXT.replace("; ", ";").replace(";-- Begin", "; -- Begin").encode(),
        "".join(f"[build] {line}" for line in TEXT.splitlines(keepends=True)).encode(),
        "".join(f"x.s-{n}-{s}" for n, s in enumerate(TEXT.splitlines(keepends=True))).encode(),
        TEXT.rstrip().encode(),
    ],
    ids=["plain", "bom", "utf16", "crlf", "cr", "blanks", "tight", "log", "grep", "cut newline"],
)
def test_forms_of_text_make_no_difference(form: bytes) -> None:
    without_grep = [fact for fact in facts_of(kernel(TEXT).stated) if fact.source != "metadata"]
    found = [fact for fact in facts_of(kernel(form).stated) if fact.source != "metadata"]
    assert found == without_grep
    if not form.startswith(b"x.s"):
        assert with_code([module(form)])[0][1:] == with_code([module(TEXT)])[0][1:]


def test_a_view_is_read_as_it_is() -> None:
    part = searchable(memoryview(TEXT.encode())[3:])
    assert with_code(read(part)) == with_code(modules(TEXT[3:]))


def test_blocks_alone_are_named_by_position() -> None:
    found = module(f"{INFO}--\n{INFO}")
    assert [each.symbol for each in found.kernels] == ["kernel at line 1", "kernel at line 20"]


def test_names_are_taken_raw_or_unquoted() -> None:
    text = r"""
	.globl	"a \"b\"; c"  ; -- Begin function a "b"; c
"a \"b\"; c":                       ; @"a \22b\22; c"
	.amdhsa_kernel a "b"; c
		.amdhsa_tg_split 0
	.end_amdhsa_kernel
	.set "a \"b\"; c.has_recursion", 1
; Kernel info:
; NumVgprs: 3
"""
    found = kernel(text)
    assert (found.symbol, found.line) == ('a "b"; c', 3)
    assert stated(found, "symbol") == {"recursion": True, "dynamic_stack": True}
    assert kernel(".amdhsa_kernel k // the kernel\n.end_amdhsa_kernel\n").symbol == "k"
    info = "; Kernel info:\n; NumVgprs: 3\n"
    assert kernel(f"; -- Begin function größe\ngröße:\n{info}").symbol == "größe"
    assert kernel(b"; -- Begin function \xff\n" + info.encode()).symbol == r"\xff"


def test_without_the_compilers_comment_the_label_names_the_kernel() -> None:
    found = kernel(f"k:\n.LBB0_1:\n\ts_branch .LBB0_1\n{INFO}")
    assert (found.symbol, found.line) == ("k", 1)


def test_functions_are_no_kernels() -> None:
    helper = "\t.p2align 2   ; -- Begin function f\nf:\n; Function info:\n; NumVgprs: 9\n"
    assert [each.symbol for each in module(helper + TEXT).kernels] == ["k"]
    # Its name must not go to a block that follows and has none.
    assert kernel(helper + INFO).symbol == "kernel at line 5"


def test_symbols_are_those_of_the_module() -> None:
    use = ".set k.num_vgpr, max(2, amdgpu.max_num_vgpr)\n; Kernel info:\n; NumVgprs: k.num_vgpr\n"
    first = f'.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\n{use}.set amdgpu.max_num_vgpr, 40\n'
    second = f'.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n{use}.set amdgpu.max_num_vgpr, 50\n'
    cut = f'.amdgcn_target "amdgcn-amd-amdhsa--gfx950"\n{use}'
    a, b, c = modules(first + second + cut)
    assert [stated(each.kernels[0], "kernel-info")["vgprs"] for each in (a, b)] == [40, 50]
    assert c.kernels[0].stated == ()
    assert [(warning.line, warning.message) for warning in c.warnings] == [
        (
            14,
            "kernel 'kernel at line 13': NumVgprs is unresolved: "
            "symbol 'amdgpu.max_num_vgpr' is not defined",
        )
    ]


def test_scratch_of_size_zero_that_is_enabled_grows_at_run_time() -> None:
    unknown = INFO.replace("ScratchSize: 16", "ScratchSize: 0")
    assert stated(kernel(unknown), "kernel-info")["dynamic_stack"] is True


@pytest.mark.parametrize(
    ("directives", "target", "vgprs", "sgprs"),
    [
        ("", "gfx90a", None, None),
        (".amdhsa_next_free_vgpr 41\n.amdhsa_next_free_sgpr 97", "gfx90a", 48, 104),
        (".amdhsa_next_free_vgpr 0\n.amdhsa_next_free_sgpr 0", "gfx90a", 8, 8),
        (".amdhsa_next_free_sgpr 8\n.amdhsa_reserve_flat_scratch 0", "gfx90a:xnack-", None, 16),
        (".amdhsa_next_free_sgpr 5\n.amdhsa_reserve_flat_scratch 0", "gfx90a", None, 16),
        (".amdhsa_next_free_sgpr 3\n.amdhsa_reserve_vcc 0", "gfx942", None, 16),
        (".amdhsa_next_free_sgpr 16\n.amdhsa_reserve_vcc 0\n.amdhsa_reserve_flat_scratch 0\n"
         ".amdhsa_reserve_xnack_mask 0", "gfx942", None, 16),
        (".amdhsa_next_free_vgpr 41\n.amdhsa_next_free_sgpr 9", "gfx1100", 48, None),
        (".amdhsa_next_free_vgpr 41\n.amdhsa_wavefront_size32 0", "gfx1100", 44, None),
        (".amdhsa_next_free_vgpr 41", "gfx1250", 48, None),
        (".amdhsa_next_free_sgpr 5", "gfx802", None, 96),
        (".amdhsa_next_free_vgpr 41\n.amdhsa_next_free_sgpr 9", "gfx1399", None, None),
    ],
)  # fmt: skip
def test_reserved_registers_are_rounded_as_the_assembler_encodes_them(
    directives: str, target: str, vgprs: int | None, sgprs: int | None
) -> None:
    facts = stated(
        kernel(
            f'.amdgcn_target "amdgcn-amd-amdhsa--{target}"\n.amdhsa_code_object_version 5\n'
            f".amdhsa_kernel k\n{directives}\n.end_amdhsa_kernel\n"
        ),
        "directive",
    )
    assert facts.get("reserved_vgprs") == vgprs
    assert facts.get("reserved_sgprs") == sgprs


HAND_WRITTEN = """\
/* Begin Kernel */
.set WAVES, 4
LDS = WAVES * 1024 + (1 << 8) // bytes
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
  .amdhsa_kernel tile
  .amdhsa_next_free_vgpr .amdgcn.next_free_vgpr
  .amdhsa_next_free_sgpr 102 /* with all */
  .amdhsa_group_segment_fixed_size LDS ; a symbol
  // .amdhsa_private_segment_fixed_size 64
.end_amdhsa_kernel
// .amdhsa_kernel not_this
.amdgpu_metadata
custom.config: {0: 257, ThreadTile: [8, 8]}
amdhsa.kernels:
- {.name: tile, .symbol: tile.kd, .vgpr_count: 0x73, .max_flat_workgroup_size: 256}
...
.end_amdgpu_metadata
tile:
  s_endpgm
.set .amdgcn.next_free_vgpr, 0
"""


def test_hand_written_text() -> None:
    found = module(HAND_WRITTEN)
    (tile,) = found.kernels
    assert (tile.symbol, tile.line) == ("tile", 18)
    assert stated(tile, "directive") == {
        "lds_bytes": 4352,
        "scratch_bytes_per_lane": 0,  # the default of what is left out
        "reserved_sgprs": 112,
    }
    assert stated(tile, "metadata") == {"vgprs": 0x73, "max_workgroup_size": 256}
    assert [(warning.line, warning.message) for warning in found.warnings] == [
        (
            6,
            "kernel 'tile': next_free_vgpr is unresolved: "
            ".amdgcn.next_free_vgpr is counted from the instructions",
        )
    ]
    [place] = [place for place in tile.places if place.source == "metadata"]
    assert place.begin == 15
    assert {*place.within.values()} == {0}


V2 = """\
	.hsa_code_object_version 2,1
	.hsa_code_object_isa 9,0,1,"AMD","AMDGPU"
	.amdgpu_hsa_kernel k
k:                                      ; @k
	.amd_kernel_code_t
		granulated_workitem_vgpr_count = 1
		granulated_wavefront_sgpr_count = 2
		is_dynamic_callstack = 0
		workitem_private_segment_byte_size = 176
		workgroup_group_segment_byte_size = 64
		wavefront_sgpr_count = 24
		workitem_vgpr_count = 6
		wavefront_size = 6
	.end_amd_kernel_code_t
	.amd_amdgpu_isa "amdgcn-amd-amdhsa--gfx901"
	.amd_amdgpu_hsa_metadata
---
Version:         [ 1, 0 ]
Kernels:
  - Name:            k
    SymbolName:      'k@kd'
    Attrs:
      ReqdWorkGroupSize: [ 8, 4, 2 ]
    CodeProps:
      WavefrontSize:   64
      NumSGPRs:        24
      NumVGPRs:        6
      MaxFlatWorkGroupSize: 64
...

	.end_amd_amdgpu_hsa_metadata
"""


def test_code_object_v2() -> None:
    found = module(V2)
    assert (found.target, found.code_object_version) == ("gfx900", 2)
    assert found.features == Features(xnack="on", sramecc="off")
    assert stated(found.kernels[0], "directive") == {
        "vgprs": 6,
        "sgprs": 24,
        "lds_bytes": 64,
        "scratch_bytes_per_lane": 176,
        "dynamic_stack": False,
        "wave_size": 64,
        "reserved_vgprs": 8,
        "reserved_sgprs": 24,
    }
    assert stated(found.kernels[0], "metadata") == {
        "vgprs": 6,
        "sgprs": 24,
        "max_workgroup_size": 64,
        "wave_size": 64,
        "required_workgroup": (8, 4, 2),
    }


def test_graphics_shaders_of_mesa_are_no_kernels() -> None:
    shader = f"\t.globl ps   ; -- Begin function ps\nps:\n{INFO}"
    assert [each.symbol for each in module(shader + V2).kernels] == ["k"]


def test_parts_of_a_text_bundle_are_modules() -> None:
    def part(entry: str, text: str) -> str:
        mark = "# __CLANG_OFFLOAD_BUNDLE____"
        return f"\n{mark}START__ {entry}\n{text}\n{mark}END__ {entry}\n"

    device = part("hip-amdgcn-amd-amdhsa--gfx90a", TEXT)
    host = part("host-x86_64-unknown-linux--", 'main:\n\tretq\n\t.set a, b\n\t.ident "clang"\n')
    silent = part("hip-amdgcn-amd-amdhsa-gfx1100", INFO)
    found = modules(device + host + silent)
    assert [(each.target, len(each.kernels), each.warnings) for each in found] == [
        ("gfx90a", 1, ()),
        ("gfx1100", 1, ()),
    ]
    wrong = device.replace("END__ hip-amdgcn-amd-amdhsa--gfx90a", "END__ other")
    assert "'other'" in complaints(wrong)[0]


def test_host_assembly_has_no_modules() -> None:
    fatbin = '\t.asciz\t"__CLANG_OFFLOAD_BUNDLE__\\003 ; Kernel info: .amdgcn_target"\n'
    assert modules(f'\t.text\nmain:\n\tretq\n{fatbin}\t.ident\t"clang"\n') == []
    assert modules("") == []


def damaged(field: str) -> str:
    return f"{TARGET}; -- Begin function k\nk:\n; Kernel info:\n{field}\n; NumAgprs: 2\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (damaged("; NumVgprs:"), "kernel 'k': NumVgprs is unresolved: the value is missing"),
        (damaged("; NumVgprs: -3"), "kernel 'k': NumVgprs is -3, which no kernel can have"),
        (damaged("; Num\0Vgprs: 4"), r"kernel 'k': not a kernel info field: '; Num\x00Vgprs: 4'"),
        (damaged("; Occupancy: 1\n; Occupancy: 2"), "kernel 'k': Occupancy is stated again; "
         "the last one counts"),
    ],
    ids=["missing", "negative", "nul", "twice"],
)  # fmt: skip
def test_a_damaged_field_costs_only_itself(text: str, complaint: str) -> None:
    assert complaints(text) == [complaint]
    assert stated(kernel(text), "kernel-info")["agprs"] == 2


def test_of_a_directive_that_stands_twice_the_last_counts() -> None:
    sizes = "".join(f".amdhsa_group_segment_fixed_size {size}\n" for size in (100, 200))
    text = f"{TARGET}k:\n.amdhsa_kernel k\n{sizes}.end_amdhsa_kernel\n"
    assert "stated again; the last one counts" in complaints(text)[0]
    assert [fact.value for fact in facts_of(kernel(text).stated) if fact.name == "lds_bytes"] == [
        200
    ]


def test_what_is_cut_or_stands_twice_is_said() -> None:
    cut = TEXT[: TEXT.index(".amdhsa_tg_split")]
    assert complaints(cut) == ["kernel 'k': .amdhsa_kernel has no end"]
    assert complaints(TARGET + FUNCTION + FUNCTION) == [
        "kernel 'k': .amdhsa_kernel stands here again, not read",
        "kernel 'k': kernel info stands here again, not read",
    ]
    assert complaints('.amdgcn_target "nothing"\n') == [
        ".amdgcn_target names no processor: 'nothing'"
    ]


@pytest.mark.parametrize(
    ("yaml", "complaint"),
    [
        ("a: &a [x]\namdhsa.kernels: *a\n...\n", "an alias, which metadata never has"),
        ("amdhsa.kernels: !x 1\n...\n", "amdhsa.kernels is no list"),
        ("amdhsa.kernels:\n\t- .name: k\n...\n", "found character that cannot start any token"),
        ("a: " + "[" * 500 + "\n...\n", "nested more than 100 deep"),
        ("- 1\n...\n", "no map of keys"),
    ],
    ids=["alias", "scalar", "tab", "deep", "list"],
)
def test_metadata_that_cannot_be_read(yaml: str, complaint: str) -> None:
    (found,) = complaints(f"{TARGET}.amdgpu_metadata\n---\n{yaml}.end_amdgpu_metadata\n")
    assert found.startswith(f"the metadata cannot be read: {complaint}")


def test_metadata_too_deep_for_libyaml_is_one_line() -> None:
    """PyYAML's libyaml has a bound of its own from 6.0.4 on; up to 6.0.3 ours alone counts."""
    yaml = "a: " + "[" * 100_000 + "\n...\n"
    (found,) = complaints(f"{TARGET}.amdgpu_metadata\n---\n{yaml}.end_amdgpu_metadata\n")
    assert re.match(r"the metadata cannot be read: (nested|exceeded maximum nesting)", found)


@pytest.mark.parametrize(
    "odd",
    [
        "!x 1",
        "!!binary '?'",
        "2001-99-99",
        "=",
        "<<",
        "9" * 5000,
        "!!python/object:os.x {}",
        "\x7f",
    ],
    ids=["tag", "binary", "date", "value", "merge", "long", "python", "DEL"],
)
def test_a_value_that_means_nothing_costs_no_other(odd: str) -> None:
    text = TEXT.replace("    .symbol:", f"    .odd: {odd}\n    .symbol:")
    assert odd in text
    assert stated(kernel(text), "metadata") == stated(kernel(TEXT), "metadata")
    assert complaints(text) == []


@pytest.mark.parametrize(
    "name",
    [
        "nan",
        "inf",
        "n",
        "yes",
        "true",
        "~",
        "null",
        "0x10",
        "010",
        "1e5",
        "1_000",
        "-1",
        "2001-01-01",
    ],
)
@pytest.mark.parametrize("form", ["{}", "'{}'", '"{}"', "!str {}", "!str '{}'"])
def test_a_name_is_text_whatever_it_looks_like(name: str, form: str) -> None:
    yaml = f"amdhsa.kernels:\n  - .name: {form.format(name)}\n    .vgpr_count: 7\n...\n"
    (found,) = module(f"{TARGET}.amdgpu_metadata\n---\n{yaml}.end_amdgpu_metadata\n").kernels
    assert found.symbol == name
    assert stated(found, "metadata") == {"vgprs": 7}


@pytest.mark.parametrize(
    ("written", "rewritten"),
    [
        ("---\n", "--- # by hand\n"),
        (".vgpr_count:     44", ".vgpr_count:     0x2c"),
        (".agpr_count:     8", ".agpr_count:     010"),
        (".symbol:         k.kd", '.symbol:         "\\x6b.kd"'),
        (".symbol:         k.kd", ".symbol:\n      k.kd"),
        (".uses_dynamic_stack: false", ".uses_dynamic_stack: no"),
        (".symbol:         k.kd", ".symbol:         !str k.kd"),
        (".symbol:         k.kd", ".symbol:         !!str 'k.kd'"),
        ("      - 8\n      - 4\n      - 2\n", "      [8, 4, 2]\n"),
        ("  - 1\n  - 2\n", "  [1, 2]\n"),
    ],
)
def test_metadata_means_the_same_however_it_is_written(written: str, rewritten: str) -> None:
    assert written in TEXT
    assert module(TEXT.replace(written, rewritten)).warnings == ()
    assert stated(kernel(TEXT.replace(written, rewritten)), "metadata") == stated(
        kernel(TEXT), "metadata"
    )


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000])
def test_a_text_means_the_same_in_pieces_of_any_size(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = with_code(modules(TEXT + TEXT))
    assert [len(kernels) for _, kernels, _ in whole] == [1, 1]
    monkeypatch.setattr(scan, "_WINDOW", size)
    monkeypatch.setattr(kernelinfo.reading.data, "_LINES", size)
    assert with_code(modules(TEXT + TEXT)) == whole


def test_metadata_without_its_end() -> None:
    cut = METADATA[: METADATA.index("    .wavefront_size")]
    assert complaints(TARGET + cut) == ["the metadata has no end"]
    assert stated(kernel(TARGET + cut), "metadata")["vgprs"] == 44
    half_a_number = cut.rstrip("\n")[:-1]
    assert "vgpr_spills" not in stated(kernel(TARGET + half_a_number), "metadata")
    # The next module is not swallowed.
    assert [each.target for each in modules(TARGET + cut + TEXT)] == ["gfx90a", "gfx90a"]


@pytest.mark.parametrize(
    "text",
    [
        "; NumVgprs: 4 " * 100_000,
        ".set .set " * 100_000,
        TARGET + "\t.amdhsa_kernel k" + " " * 1_000_000 + "x\n",
        TARGET + "; Kernel info:\n; NumVgprs: 4" + " " * 1_000_000 + "x\n",
        TARGET + INFO * 500,
        TARGET + "\t.amdgpu_metadata\n" * 10_000,
        TARGET + "\t.amdgpu_metadata\namdhsa.kernels:\n  - .name: k" + " " * 1_000_000 + ":\n",
    ],
    ids=["comment", "one line", "blanks", "value", "blocks", "unended", "metadata"],
)
def test_hostile_text_comes_to_an_end(text: str) -> None:
    """Twice the length squared would take longer than a test may."""
    modules(text)


def _texts(index: str) -> list[dict[str, str]]:
    if not SHARED.is_dir():
        return []
    with (SHARED / index).open(newline="") as rows:
        return list(csv.DictReader(rows))


CORPUS = [row for row in _texts("corpus/INDEX.csv") if row["kind"] in ("text", "text bundle")]
HOSTILE = [row["file"] for row in _texts("hostile/INDEX.csv") if row["file"].startswith("text/")]


@needs_corpus
@pytest.mark.parametrize("row", CORPUS, ids=lambda row: row["file"])
def test_every_kernel_of_the_corpus_is_found(row: dict[str, str]) -> None:
    found = Counter[str]()
    for each in modules((SHARED / "corpus" / row["file"]).read_bytes()):
        others = [r for r in each.warnings if not r.message.endswith("passed over as a shader")]
        assert others == [] or "handwritten" in row["file"] or "truncated" in row["file"]
        found[each.target or "?"] += len(each.kernels)
    expected = Counter[str]()
    for target, _, count in (part.rpartition("=") for part in row["targets=kernels"].split()):
        # The index spells features, and XNACK as code object v2 did.
        expected[target.partition(":")[0].replace("gfx901", "gfx900")] += int(count)
    if expected.keys() == {"?"} and found["?"] == 0:
        assert found.total() == expected.total()
    else:
        assert +found == expected


@needs_corpus
@pytest.mark.parametrize("row", CORPUS, ids=lambda row: row["file"])
def test_the_sources_of_the_corpus_agree(row: dict[str, str]) -> None:
    for each in modules((SHARED / "corpus" / row["file"]).read_bytes()):
        # LLVM up to 16 states XNACK's SGPRs as reserved and does not count them itself: what it
        # makes of its own text differs from what it makes without that detour.
        version = re.search(r"clang version (\d+)", compiler_of(each.stamps) or "")
        doubtful = {"reserved_sgprs"} if version and int(version[1]) <= 16 else set()
        for found in each.kernels:
            values_of: dict[str, set[object]] = {}
            for fact in facts_of(found.stated):
                if fact.name not in doubtful and fact.source != "symbol":
                    values_of.setdefault(fact.name, set()).add(fact.value)
            assert {name for name, values in values_of.items() if len(values) > 1} == set()


@needs_corpus
@pytest.mark.parametrize("file", HOSTILE)
def test_hostile_files_come_to_an_end(file: str) -> None:
    for each in modules((SHARED / "hostile" / file).read_bytes()):
        assert all(isinstance(found, KernelFacts) for found in each.kernels)


def test_a_text_of_nothing_but_mistakes_is_told_as_far_as_anybody_reads() -> None:
    text = TEXT + ".amdhsa_kernel k\n.end_amdhsa_kernel\n" * 3000
    first, last = modules(text)
    assert len(first.warnings) == 1000
    assert [warning.message for warning in last.warnings] == [
        "2000 more warnings on this text; the last one is: "
        "kernel 'k': .amdhsa_kernel stands here again, not read"
    ]
