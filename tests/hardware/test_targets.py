"""The table of hardware facts: whole, sourced, and refused when it contradicts itself."""

from __future__ import annotations

import csv
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kernelinfo.errors import KernelinfoError, UnknownTargetError
from kernelinfo.hardware import targets
from tests.conftest import needs_checkout
from tests.messages import refused

from ..reading.inside import parse_target_id

TOML = Path(targets.__file__).with_name("targets.toml")
FACTS = Path(__file__).parents[3] / "shared" / "hardware" / "targets.csv"


def test_every_topic_names_its_source() -> None:
    for target in map(targets.find, targets.known()):
        topics: list[Any] = [target.waves, target.agprs, target.sgprs, target.lds, target.scratch]
        topics += [target.icache] if target.icache else []
        for topic in (*topics, *target.vgprs, *target.domains, *target.counters):
            assert len(topic.source) > 10, (target.name, topic)
        assert target.counters, target.name


def test_elf_mach_is_unique_and_leads_back() -> None:
    numbers = {name: targets.find(name).elf_mach for name in targets.known()}
    assert len(set(numbers.values())) == len(numbers)
    for name, number in numbers.items():
        found = targets.by_elf_mach(number)
        assert found is not None
        assert found.name == name
    assert targets.by_elf_mach(0x00) is None


def test_members_of_generic_targets_exist_and_encode_alike() -> None:
    for name in targets.known():
        target = targets.find(name)
        assert name.endswith("-generic") == bool(target.members)
        for member in map(targets.find, target.members):
            encodings = {(f.wave_size, f.encoding_granule) for f in member.vgprs}
            assert encodings == {(f.wave_size, f.encoding_granule) for f in target.vgprs}


def test_an_unknown_target_names_a_near_one() -> None:
    with refused("target-unknown did-you-mean gfx90a", UnknownTargetError):
        targets.find("gfx90A")


@needs_checkout
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("granule = 8\n", "granule = 7\n"), "targets-contradiction granule"),
        (("per_simd = 512\n", 'per_simd = "512"\n'), "targets-type int"),
        (("tg_split = true\n", ""), "targets-keys tg_split"),
        (("tg_split = true\n", "tg_split = true\nwgps = 3\n"), "targets-keys wgps"),
        (('file = "unified"', 'file = "both"'), "targets-choice both"),
        (("granule_bytes = 512", "granule_bytes = 500"), "targets-contradiction LDS granule"),
        (('source = "LLVM', 'source = ""\n# "'), "targets-empty"),
        (('sgprs = "gfx9"', 'sgprs = "gfx99"'), "targets-no-table gfx99"),
        (("before = 16, field = ", "before = 16, fields = "), "targets-keys field"),
        (('field = "lds_bytes"', 'field = "lds"'), "targets-contradiction no field of its topic"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_contradicting_table_is_refused(
    change: tuple[str, str], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = TOML.read_text("utf-8")
    own = ("gfx90a", "gfx1100", "vgprs.gfx90a", "agprs.unified", "lds.gfx7", "domains.gfx10")
    sections = re.split(r"(?m)^(?=\[)", text)
    own_sections = [one for one in sections if one.strip("[").startswith(own)]
    broken = next(section for section in own_sections if change[0] in section)
    tables = targets.read_tables(text.replace(broken, broken.replace(*change)))
    monkeypatch.setattr(targets, "tables", lambda: tables)
    targets.find.cache_clear()
    with refused(complaint, KernelinfoError):
        [targets.find(name) for name in ("gfx90a", "gfx1100")]
    targets.find.cache_clear()


def test_what_targets_share_is_written_once() -> None:
    """A topic has a name of its own if several targets refer to it, and only then."""
    whole = tomllib.loads(TOML.read_text("utf-8"))
    topics = {key: table for key, table in whole.items() if not key.startswith("gfx")}
    for topic, shared in topics.items():
        stated = [whole[name][topic] for name in targets.known() if topic in whole[name]]
        references = Counter(value for value in stated if isinstance(value, str))
        assert references.keys() == shared.keys()
        assert min(references.values()) > 1
        written = [*shared.values(), *(value for value in stated if not isinstance(value, str))]
        assert all(written.count(one) == 1 for one in written)


def test_the_loader_reads_what_the_file_holds() -> None:
    whole = tomllib.loads(TOML.read_text("utf-8"))
    assert tuple(name for name in whole if name.startswith("gfx")) == targets.known()
    for name in targets.known():
        for topic, value in whole[name].items():
            if isinstance(value, str) and topic in whole:
                value = whole[topic][value]
            assert as_toml(getattr(targets.find(name), topic), like=value) == value


def as_toml(value: Any, like: Any) -> Any:
    """Rows as the tables that `like` has: with the keys that are stated there."""
    if isinstance(like, dict):
        return {key: as_toml(getattr(value, key), one) for key, one in like.items()}
    if isinstance(like, list):
        return [as_toml(one, other) for one, other in zip(value, like, strict=True)]
    return value


@pytest.mark.parametrize(
    ("processor", "features"),
    [
        ("gfx803", ("unsupported", "unsupported")),
        ("gfx1010", ("any", "unsupported")),
        ("gfx90a", ("any", "any")),
        ("gfx1250", (None, "any")),
        ("gfx1310", (None, None)),
        ("gfx999", (None, None)),
    ],
)
def test_features_that_a_target_id_leaves_out(
    processor: str, features: tuple[str | None, str | None]
) -> None:
    target_id = parse_target_id(processor)
    assert target_id
    assert target_id.features(5) == features
    assert target_id.features(3) == ("off", "off")


def test_names_of_code_object_v2_with_xnack() -> None:
    named = {"gfx901": "gfx900", "gfx903": "gfx902", "gfx905": "gfx904", "gfx907": "gfx906"}
    for name, processor in named.items():
        target_id = parse_target_id(name)
        assert target_id
        assert (target_id.processor, target_id.settings) == (processor, (("xnack", "on"),))


@pytest.mark.skipif(not FACTS.exists(), reason="the shared hardware table is not here")
def test_the_facts_are_those_that_were_researched() -> None:
    with FACTS.open() as file:
        rows = {row["target"]: row for row in csv.DictReader(file)}
    assert set(rows) <= set(targets.known())
    for name, row in rows.items():
        target = targets.find(name)
        for found in target.vgprs:
            column = f"w{found.wave_size}"
            assert str(found.per_simd) == row[f"vgpr_per_simd_{column}"]
            assert str(found.granule) == row[f"vgpr_alloc_granule_{column}"]
            assert str(found.encoding_granule) == row[f"vgpr_encoding_granule_{column}"]
            assert row[f"vgpr_addressable_{column}"].split()[0] == str(found.addressable)
        assert str(target.waves.default_size) == row["llvm_default_wave"]
        assert row["wave_slots_per_simd_hw"].split()[0] == str(target.waves.slots_per_simd)
        assert str(target.lds.granule_bytes) == row["lds_alloc_granule_hw"]
        assert str(target.lds.bytes_per_workgroup) == row["lds_max_per_wg"]
        assert str(target.sgprs.trap_handler) == row["sgpr_trap_handler_reserve"]
        assert str(target.scratch.granule_bytes) == row["scratch_wavesize_unit_bytes"]
        assert str(target.scratch.bytes_per_wave) == row["scratch_max_bytes_per_wave"]
        if target.sgprs.per_simd:
            assert str(target.sgprs.per_simd) == row["sgpr_per_simd"]
            assert str(target.sgprs.granule) == row["sgpr_alloc_granule"]
        for domain in target.domains:
            assert str(domain.lds_bytes) == row[f"lds_per_{domain.per.lower()}"]
