"""The wheel works where no checkout is: its grammars and tables travel with it."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import kernelinfo

from ..reading.inside import ROOM, formats

ROOT = Path(__file__).parents[2]


def build(folder: Path) -> Path:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


def test_two_builds_are_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    assert build(tmp_path).read_bytes() == wheel.read_bytes()


def test_the_wheel_holds_the_package_its_data_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    grammars = {f"kernelinfo/grammars/{path.name}" for path in (ROOT / "grammars").glob("*.lark")}
    assert len(grammars) == 3
    schemas = (ROOT / "kernelinfo").rglob("*-schema.json")
    data = {"kernelinfo/hardware/targets.toml"}
    data |= {path.relative_to(ROOT).as_posix() for path in schemas}
    sources = ROOT / "kernelinfo" / "render" / "html"
    data |= {f"kernelinfo/render/html/{path.name}" for path in sources.iterdir() if path.is_file()}
    assert grammars | data | {"kernelinfo/py.typed"} <= names
    tops = {name.split("/")[0] for name in names}
    assert tops == {"kernelinfo", f"kernelinfo-{kernelinfo.__version__}.dist-info"}
    assert not [name for name in names if "__pycache__" in name or name.endswith((".so", ".pyd"))]
    assert wheel.name.endswith("-py3-none-any.whl")


def test_the_wheel_holds_the_tables_of_its_grammars(wheel: Path, tmp_path: Path) -> None:
    """They are used without Lark, and are those that Lark makes of the grammars."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = f"""if True:
        import sys
        from pathlib import Path
        sys.path.insert(0, {str(tmp_path)!r})
        from {ROOM} import grammar, grammar_tables
        fresh = [grammar_tables.make_tables(Path(each).read_text()) for each in sys.argv[1:]]
        sys.modules["{ROOM}.grammar_tables"] = None
        assert [grammar.load_tables(Path(each).stem) for each in sys.argv[1:]] == fresh
    """
    grammars = map(str, (ROOT / "grammars").glob("*.lark"))
    subprocess.run([sys.executable, "-I", "-c", code, *grammars], cwd=tmp_path, check=True)


def test_the_wheel_holds_its_targets_as_a_module(wheel: Path, tmp_path: Path) -> None:
    """They are used, zipped too, and hold what the text does, its shared topics put in."""
    code = f"""if True:
        import sys, tomllib
        sys.path.insert(0, {str(wheel)!r})
        from kernelinfo.hardware import targets
        whole = tomllib.loads(open(sys.argv[1]).read())
        assert targets.ARE_CHECKED
        names = [name for name in whole if name.startswith("gfx")]
        assert names == list(targets.known())
        for name in names:
            own = {{
                key: whole[key][value] if isinstance(value, str) and key in whole else value
                for key, value in whole[name].items()
            }}
            assert targets.tables()[name] == own
            assert targets.by_elf_mach(whole[name]["elf_mach"]).name == name
    """
    table = str(ROOT / "kernelinfo" / "hardware" / "targets.toml")
    subprocess.run([sys.executable, "-I", "-c", code, table], cwd=tmp_path, check=True)


def test_a_wheel_elsewhere_reads_assembly(wheel: Path, tmp_path: Path) -> None:
    """From its own folder, with the checkout out of sight."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    sample = ROOT / "fixtures" / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
    code = f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); import kernelinfo; "
    code += "print(kernelinfo.__file__); "
    code += f"print(kernelinfo.load({str(sample)!r}).kernels[1].occupancy().limiters)"
    run = [sys.executable, "-I", "-c", code]
    printed = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) in printed
    assert "('vgpr',)" in printed


HEAVY = {"typer", "rich", "lark", "elftools", "yaml", "tomllib", "dataclasses", "pathlib"}
EMBEDDED = {
    *("pytest", "triton", "mcp", "duckdb", "kernelinfo.pytest_plugin", "kernelinfo.model.vectors"),
    *("kernelinfo.triton", "kernelinfo.agents", "kernelinfo.watch"),
}
"""What other people's programs use of kernelinfo, and what that needs."""
CONTAINERS = {f"{ROOM}.containers.{name.partition('.')[0]}" for name in formats.FORMATS}


@pytest.mark.parametrize(
    ("file", "other", "needed"),
    [
        ("assembly/occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s", "code_object", set()),
        ("code_object/variety-clang22-gfx942.co", "assembly", {"elftools", "dataclasses"}),
    ],
)
def test_a_report_imports_what_it_needs(
    wheel: Path, file: str, other: str, needed: set[str], tmp_path: Path
) -> None:
    """In a wheel, whose tables are parsed, and without what `site` brings."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = f"""if True:
        import sys
        sys.path += [{str(tmp_path / "site")!r}, {sysconfig.get_path("purelib")!r}]
        from kernelinfo.__main__ import main
        main()
        print(*sys.modules, sep=chr(10), file=sys.stderr)
    """
    sample = str(ROOT / "fixtures" / file)
    run = [sys.executable, "-I", "-S", "-c", code, sample]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True)
    imported = set(done.stderr.splitlines())
    assert ROOM in imported
    unneeded = HEAVY | EMBEDDED | CONTAINERS | {f"{ROOM}.{other}"}
    assert sorted(imported & (unneeded - needed)) == []
