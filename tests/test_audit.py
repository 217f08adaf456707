"""The audit hears each kind of act, and tells whose it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kernelinfo.atomic_write import atomic_write

from . import audit
from .test_house import MODULES, PACKAGE

DOES = {
    "write": "open(folder + '/new', 'w').close()",
    "rename": "os.replace(folder + '/old', folder + '/new')",
    "delete": "os.unlink(folder + '/old')",
    "folder": "os.makedirs(folder + '/new')",
    "link": "os.symlink('old', folder + '/new')",
    "mode": "os.chmod(folder + '/old', 0o600)",
    "start": "subprocess.run([sys.executable, '-c', ''], check=True)",
    "socket": "socket.socket().close()",
    "database": "sqlite3.connect(':memory:').close()",
}
"""What each act of the table is, in Python."""
_IMPORTS = "import os, socket, sqlite3, subprocess, sys\n"


@pytest.fixture
def heard(request: pytest.FixtureRequest) -> audit.Audit:
    plugin = request.config.pluginmanager.get_plugin("audit")
    assert isinstance(plugin, audit.Audit)
    return plugin


def do(act: str, folder: Path, file: str) -> None:
    """Do the act by code of this file."""
    (folder / "old").touch()
    exec(compile(_IMPORTS + DOES[act], file, "exec"), {"folder": str(folder)})


@pytest.mark.parametrize("act", DOES)
def test_an_act_of_the_product_is_forbidden_and_one_of_a_test_is_not_heard(
    act: str, heard: audit.Audit, tmp_path: Path
) -> None:
    before = heard.seen.copy()
    do(act, tmp_path, __file__)
    assert (heard.seen, heard.forbidden()) == (before, "")
    (tmp_path / "again").mkdir()
    do(act, tmp_path / "again", os.path.join(PACKAGE, "model", "limits.py"))
    assert f"model.limits: {act} " in heard.forbidden()
    assert heard.seen["model.limits", act] > before["model.limits", act]
    heard.seen = before


def test_an_act_of_the_table_is_counted(heard: audit.Audit, tmp_path: Path) -> None:
    before = heard.seen["atomic_write", "rename"]
    with atomic_write(str(tmp_path / "new")) as file:
        file.write(b"1")
    assert heard.seen["atomic_write", "rename"] == before + 1
    assert heard.forbidden() == ""


def test_the_table_names_modules_and_acts_that_there_are() -> None:
    modules = {str(path.relative_to(PACKAGE))[:-3].replace(os.sep, ".") for path in MODULES}
    table = audit.allowed(audit.TABLE.read_text("utf-8"))
    assert len(table) > 20
    assert {module for module, _ in table} <= modules
    assert {act for _, act in table} <= set(DOES) == set(audit.ACTS.values())
