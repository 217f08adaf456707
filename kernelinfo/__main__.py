"""`kernelinfo PATH...` is `kernelinfo report PATH...`; everything else names its command."""

from __future__ import annotations

import sys

_COMMANDS = ("report", "explain", "calc", "limits", "arch")
_OWN_OPTIONS = ("--help", "-h", "--version", "--install-completion", "--show-completion")


def main() -> None:
    arguments = sys.argv[1:]
    if arguments and arguments[0] not in _COMMANDS + _OWN_OPTIONS:
        sys.argv.insert(1, "report")
    from kernelinfo.cli import app

    app()


if __name__ == "__main__":
    main()
