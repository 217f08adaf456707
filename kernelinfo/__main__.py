"""`kernelinfo PATH...` is `kernelinfo report PATH...`; everything else names its command."""

from __future__ import annotations

import signal
import sys

_COMMANDS = ("report", "explain", "calc", "limits", "extract", "arch")
_OWN_OPTIONS = ("--help", "-h", "--version", "--install-completion", "--show-completion")


def main() -> None:
    """The entry point of the command line."""
    arguments = sys.argv[1:]
    if arguments and arguments[0] not in _COMMANDS + _OWN_OPTIONS:
        sys.argv.insert(1, "report")
    # Ctrl-C ends it at once, as it ends any tool: no traceback, and the shell's own exit code.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from kernelinfo.cli import app

    app()


if __name__ == "__main__":
    main()
