"""The house keeps its floors: a module imports only from below, heavy libraries stay in a room."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import kernelinfo

PACKAGE = Path(__file__).parent.parent / "kernelinfo"
MODULES = sorted(PACKAGE.rglob("*.py"))
PUBLIC = set(dir(kernelinfo)) - {"__version__"}

BEDROCK = {"opening"}
"""It imports nothing of the package, and every other module may import it."""
FOUNDATION = {
    "atomic_write",
    "errors",
    "manual",
    "waiting",
    "__init__.__version__",
}
"""They import nothing of the package but `opening`, and every floor may import them."""
FLOORS = (
    {"hardware"},
    {"model", "reading"},
    {"kernel", "compile"},
    {"rules"},
    {"analysis", "config"},
    {"compare", "pressure"},
    {"gate", "variants", "fleet", "watch"},
    {"render"},
    {"agents"},
    {"cli", "triton"},
)
"""Bottom up."""
TOP = {"__main__", "__init__"}
"""The command and the public API."""
ASKED_FROM_OUTSIDE = {
    ("fleet/__init__.py", "kernelinfo.render"),
}
"""The import that goes up: a script asks the fleet itself for a scan, whose rows are JSON lines.
Values that notebooks show go up by name, in `kernelinfo.kernel.in_html`."""
USERS = {"pytest_plugin"}
"""Modules that use the public API, as other people's programs do."""

ROOMS = {
    "markdown_it": ("render/manual.py",),
    "anyio": ("agents/server.py",),
    "mcp": ("agents/server.py",),
    "mcp_types": ("agents/server.py",),
    "jsonschema": ("agents/server.py",),
    "pytest": ("pytest_plugin.py",),
    "typer": ("cli/",),
    "rich": (
        *("render/paint.py", "render/manual.py"),
        *("cli/console.py", "cli/screen.py"),
    ),
    "lark": ("reading/grammar_tables.py",),
    "elftools": ("reading/elf.py", "reading/code_object/dwarf.py"),
    "msgpack": ("reading/code_object/", "reading/containers/kpack.py"),
    "yaml": ("reading/assembly/",),
    "re2": ("kernel/names.py",),
    "pycxxfilt": ("kernel/names.py", "kernel/demangler.py"),
    "jinja2": ("render/html/",),
    "sqlite3": ("compare/profile.py", "reading/containers/database.py"),
    "llvmlite": ("compile/llvmlite_child.py",),
    "dask": ("fleet/",),
    "distributed": ("fleet/",),
    "duckdb": ("fleet/",),
    "fsspec": ("fleet/",),
    "triton": ("triton/",),
}


def floor_of(name: str) -> int:
    floors = (BEDROCK, FOUNDATION, *FLOORS, TOP, USERS)
    return next(index for index, floor in enumerate(floors) if name in floor)


@cache
def nodes(module: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file's syntax tree."""
    return tuple(ast.walk(ast.parse(module.read_text("utf-8"))))


@cache
def imports(module: Path) -> list[tuple[str, str]]:
    """(module, first name) of each import anywhere in a file."""
    pairs = []
    for node in nodes(module):
        if isinstance(node, ast.Import):
            pairs += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            pairs += [(node.module, alias.name) for alias in node.names]
    return pairs


def place(module: Path) -> str:
    """Path of a module below the package."""
    return str(module.relative_to(PACKAGE))


def test_imports_go_down() -> None:
    offenders = []
    for module in MODULES:
        own = module.relative_to(PACKAGE).with_suffix("").parts[0]
        for imported, name in imports(module):
            if imported.partition(".")[0] != "kernelinfo":
                continue
            is_public = not name or name in PUBLIC
            room = "__init__" if is_public and "." not in imported else name
            room = imported.split(".")[1] if "." in imported else room
            room = "__init__.__version__" if room == "__version__" else room
            goes_down = room == own or floor_of(room) < floor_of(own)
            # `from kernelinfo import rules` would look for a public name `rules` first.
            is_named = imported != "kernelinfo" or is_public or name == "__version__"
            is_asked = (place(module), imported) in ASKED_FROM_OUTSIDE
            if not ((goes_down and is_named) or is_asked):
                offenders.append(f"{place(module)} imports {imported} {name}")
    assert offenders == []


def test_the_public_api_is_what_type_checkers_see() -> None:
    """They see the imports of `__init__.py`; at run time `__getattr__` finds the same."""
    seen = [
        (module, name)
        for module, name in imports(PACKAGE / "__init__.py")
        if module.startswith("kernelinfo.")
    ]
    for module, name in seen:
        assert getattr(kernelinfo, name) is getattr(import_module(module), name)
    assert sorted(name for _, name in seen) == sorted(PUBLIC)


def test_libraries_stay_in_their_rooms() -> None:
    assert [
        f"{imported} in {place(module)}"
        for module in MODULES
        for imported, _ in imports(module)
        if not place(module).startswith(ROOMS.get(imported.split(".")[0], ""))
    ] == []


def test_files_stay_readable() -> None:
    lengths = {place(module): len(module.read_text("utf-8").splitlines()) for module in MODULES}
    assert {name: lines for name, lines in lengths.items() if lines > 450} == {}


def test_every_rule_is_in_the_list_and_documented() -> None:
    from kernelinfo.rules import RULES, every_rule

    written = {
        node.name
        for path in (PACKAGE / "rules").glob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        if node.returns and ast.unparse(node.returns) == "Iterator[Finding]"
    }
    assert {rule.name.replace("-", "_") for rule in RULES} == written
    assert [rule.number for rule in RULES] == sorted(rule.number for rule in RULES)
    assert len({rule.number for rule in every_rule()}) == len(every_rule())
    for rule in every_rule():
        for heading in ("What it finds:", "Why it matters:", "What to do:"):
            assert heading in rule.documentation, rule.number


DEVICES = {"eval", "exec", "__code__", "__signature__", "ctypes", "_signal", "_collections"}
"""Interpreter-level devices, by the names that they are called, read or imported by."""


def test_no_module_uses_an_interpreter_device() -> None:
    offenders = {}
    for module in MODULES:
        used = {imported.split(".")[0] for imported, _ in imports(module)}
        for node in nodes(module):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                used.add(node.func.id)
            elif isinstance(node, ast.Attribute) and node.attr.startswith("__"):
                used.add(node.attr)
        if used & DEVICES:
            offenders[place(module)] = used & DEVICES
    assert offenders == {}


def test_imports_stand_at_the_top_and_caches_are_few() -> None:
    """Each exception carries its reason or its figure. A command imports a format when it writes
    it: no answer pays for the others."""
    inside: set[ast.AST] = set()
    caches = ignored = 0
    for module in MODULES:
        text = module.read_text("utf-8")
        ignored += text.count("type: " + "ignore")
        for node in nodes(module):
            if isinstance(node, ast.FunctionDef):
                inside |= {
                    one
                    for one in ast.walk(node)
                    if isinstance(one, ast.Import | ast.ImportFrom)
                    and not ("cli" in module.parts and "from kernelinfo.render" in ast.unparse(one))
                }
                names = {ast.unparse(one).partition("(")[0] for one in node.decorator_list}
                caches += bool(names & {"cache", "lru_cache"})
    assert len(inside) <= 40
    assert caches <= 30
    assert ignored <= 6


def test_the_house_is_low() -> None:
    """At most ten floors, and reading does without the occupancy model on its own floor."""
    assert len(FLOORS) <= 10
    for module in (PACKAGE / "reading").rglob("*.py"):
        for imported, name in imports(module):
            assert not f"{imported}.{name}".startswith("kernelinfo.model"), module


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_no_two_files_import_each_other() -> None:
    """Not by way of others either, nor inside functions or for types alone: whoever reads one file
    of a circle has to know all of them.

    `from kernelinfo.render import csv` imports the file `csv`, not `render/__init__.py`. The
    version is of the foundation: it stands above the names of `kernelinfo/__init__.py`."""
    names = {module_name(path): path for path in MODULES}
    needs: dict[str, set[str]] = {}
    for name, path in names.items():
        found = {
            f"{own}.{first}" if f"{own}.{first}" in names else own
            for own, first in imports(path)
            if first != "__version__"
        }
        needs[name] = (found & names.keys()) - {name}
    while ends := {name for name, needed in needs.items() if not needed}:
        needs = {name: needed - ends for name, needed in needs.items() if name not in ends}
    assert needs == {}


TESTS = Path(__file__).parent
BELOW_FRONT_DOORS = {
    *("agents/test_answers.py", "analysis/test_parallel.py", "browser/test_model.py"),
    *("cli/test_as_equals_calc.py",),
    *("compile/test_sources.py", "conftest.py", "differential/compare.py"),
    *("distribution/test_wheel.py", "fleet/nights.py", "fleet/test_inside.py", "fuzz/fleets.py"),
    *("fuzz/inside.py", "fuzz/readers.py", "fuzz/user_files.py", "hardware/test_targets.py"),
    *("kernel/test_unread_names.py", "model/test_compiler.py", "model/test_devices.py"),
    *("pressure/instruction_flags.py", "pressure/live_ins.py", "pressure/machine_code.py"),
    *("pressure/pending_reads.py", "pressure/upper_vgprs.py", "reading/by_lark.py"),
    *("reading/code_object/test_debug_children.py", "reading/code_object/test_plain.py"),
    *("reading/inside.py", "reading/test_elf.py", "reading/test_grammar.py"),
    *(
        "reading/test_long_text.py",
        "schemas/documents.py",
        "schemas/files.py",
        "schemas/tables.py",
        "sweep/proof.py",
        "test_docs.py",
    ),
}
"""Files of tests that import modules of a room. The list only shrinks."""
INSIDE = {"inside", "reading.inside"}
"""What hands modules of a room to them."""


def test_tests_use_front_doors() -> None:
    """They import `kernelinfo` and `kernelinfo.<room>`, so that a room may change inside."""
    below = set()
    for path in sorted(TESTS.rglob("*.py")):
        for imported, name in imports(path):
            module = PACKAGE.parent.joinpath(*imported.split("."), name)
            is_module = module.with_suffix(".py").is_file() or module.is_dir()
            rooms = imported.count(".") + (is_module and bool(name))
            if imported.partition(".")[0] == "kernelinfo" and rooms > 1:
                below.add(path.relative_to(TESTS).as_posix())
        if any(isinstance(node, ast.ImportFrom) and node.module in INSIDE for node in nodes(path)):
            below.add(path.relative_to(TESTS).as_posix())
    assert below == BELOW_FRONT_DOORS
    assert len(below) <= 35


def names_of_kinds(path: Path) -> Iterator[str]:
    """Names of the classes, type aliases and type variables of a file, without leading `_`."""
    tree = ast.parse(path.read_text("utf-8"))
    yield from (node.name.strip("_") for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    targets = [node.targets[0] for node in tree.body if isinstance(node, ast.Assign)]
    names = (target.id for target in targets if isinstance(target, ast.Name))
    yield from (name.strip("_") for name in names if re.fullmatch(r"_?[A-Z]\w*[a-z]\w*", name))


NAMED_AFTER_OPTIONS = {"cli/options.py"}
"""Types of parameters, named after options: `options.Device` is `--device`. Always written so."""


def test_one_name_has_one_meaning() -> None:
    """A name of a class or type stands for one thing in the whole package."""
    homes: dict[str, list[str]] = {}
    for path in MODULES:
        if place(path) not in NAMED_AFTER_OPTIONS:
            for name in names_of_kinds(path):
                homes.setdefault(name, []).append(place(path))
        for imported, name in imports(path):
            assert imported != "kernelinfo.cli.options" or not name[:1].isupper(), place(path)
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}
