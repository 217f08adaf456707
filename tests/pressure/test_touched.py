"""Code that touches registers beyond its descriptor's, as text and as linked objects."""

from __future__ import annotations

import json
import re
import subprocess
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from ..conftest import CORPUS, FIXTURES, needs_corpus
from ..test_golden import OCCUPANCY, run
from .unallocated import Unallocated, unallocated


def told(folder: Path, *command: str) -> dict[tuple[str, str], list[str]]:
    """File and kernel → errors of KI006."""
    out, _, _ = run(*command, str(folder), "--format", "json", "--select", "KI006", folder=folder)
    answer = json.loads(out)
    return {
        (Path(answer["inputs"][one["input"]]["path"]).stem, one["symbol"]): [
            each["message"] for each in one["findings"] if each["severity"] == "error"
        ]
        for one in answer["kernels"]
    }


def check(answer: dict[tuple[str, str], list[str]], made: dict[str, Unallocated]) -> None:
    """Kernels `over` touch the register in the function that does, and `fits` nothing."""
    assert len(answer) == 2 * len(made)
    wrong = []
    for (file, kernel), messages in answer.items():
        one = made[file]
        if kernel == "fits":
            is_right = messages == []
        else:
            is_right = len(messages) == 1 and f" {one.register}," in messages[0]
            is_right = is_right and one.callee in messages[0]
            is_right = is_right and ("callee" in messages[0]) == bool(one.callee)
        if not is_right:
            wrong.append((file, kernel, messages, one.register, one.callee))
    assert wrong == []


def made(folder: Path, count: int, seed: int) -> dict[str, Unallocated]:
    texts = {f"k{number}": unallocated(Random(f"{seed} {number}")) for number in range(count)}
    for name, one in texts.items():
        (folder / f"{name}.s").write_text(one.text)
    return texts


def touched(*command: str) -> dict[str, Any]:
    out, _, _ = run(*command, "--format", "json")
    return {one["symbol"]: one["touched"] for one in json.loads(out)["kernels"]}


def looks_agree(path: Path) -> int:
    """Number of kernels of which a quick and a closer look at the code tell the same."""
    quick, close = touched("explain", str(path), "*"), touched(str(path), "--instructions")
    assert quick == close
    return len(quick)


def test_a_quick_look_tells_what_a_closer_one_does() -> None:
    for name in ("handwritten.s", f"{OCCUPANCY}.s"):
        assert looks_agree(FIXTURES / "assembly" / name)


@needs_corpus
@pytest.mark.nightly
@pytest.mark.parametrize("share", range(4))
def test_looks_at_many_texts_agree(share: int) -> None:
    paths = sorted((CORPUS / "core").rglob("*.s"))[share::4]
    assert sum(map(looks_agree, paths)) > 200


def test_texts(tmp_path: Path) -> None:
    texts = made(tmp_path, 60, 1)
    check(told(tmp_path), texts)


@pytest.mark.nightly
@pytest.mark.needs("llvm-22", "lld-22")
@pytest.mark.parametrize("seed", range(2, 12))
def test_a_hundred_objects(seed: int, tmp_path: Path) -> None:
    texts = made(tmp_path, 100, seed)
    check(told(tmp_path), texts)
    for name in texts:
        text, unlinked, linked = (tmp_path / f"{name}.{end}" for end in ("s", "o", "co"))
        unlinked.write_bytes(assembled(texts[name].text))
        subprocess.run(["ld.lld-22", "-shared", str(unlinked), "-o", str(linked)], check=True)
        text.unlink()
        unlinked.unlink()
    (tmp_path / "kernelinfo.toml").write_text("instructions = true\n")
    check(told(tmp_path, "check"), texts)


@pytest.mark.nightly
@pytest.mark.needs("llvm-22")
def test_the_numbers_to_write_give_the_promised_waves(tmp_path: Path) -> None:
    """Written into the descriptor and assembled; the code stays as it is."""
    promises: dict[str, str] = {}
    fields = set[str]()
    for name, one in made(tmp_path, 120, 20).items():
        out, _, _ = run(f"{name}.s", "--format", "json", "--select", "KI209", folder=tmp_path)
        for finding in json.loads(out)["kernels"][1]["findings"]:
            waves, written = re.findall(r": ([\d.]+) waves?/SIMD .* with (.*)", finding["message"])[
                0
            ]
            text = one.text
            for field, number in re.findall(r"(\w+) (\d+)", written):
                text = re.sub(rf"{field} \d+", f"{field} {number}", text)
                fields.add(field)
            (tmp_path / f"{name}.s").write_text(text)
            after = assembled(text)
            assert code(after) == code(assembled(one.text))
            (tmp_path / f"{name}.o").write_bytes(after)
            promises[name] = waves
    assert len(promises) >= 20
    assert fields == {"next_free_vgpr", "accum_offset", "next_free_sgpr"}
    for name, waves in promises.items():
        out, _, _ = run(f"{name}.o", "--format", "json", folder=tmp_path)
        assert f"{json.loads(out)['kernels'][1]['occupancy']['waves_per_simd']:g}" == waves


def assembled(text: str) -> bytes:
    target = text.partition("--")[2].partition('"')[0]
    command = ("llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={target}", "-filetype=obj")
    return subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout


def code(code_object: bytes) -> bytes:
    section = ELFFile(BytesIO(code_object)).get_section_by_name(".text")
    assert section is not None
    return bytes(section.data())
