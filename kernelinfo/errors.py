"""All that a user can cause; anything else that is raised is a bug of ours."""

from collections.abc import Iterable

_LONGEST_NAME = 200
"""Characters."""


class KernelinfoError(Exception):
    """The message reads `where: what was found; what to do` and fits one line."""


class ReadError(KernelinfoError):
    """Bytes that are not what they claim to be, or cannot be read at all."""


class FileBudgetError(KernelinfoError):
    """A file whose containers give more in all than any file may."""


class TooManyKernelsError(ReadError):
    """Code that states more kernels than its size explains."""


class OptionError(KernelinfoError):
    """An option whose value means nothing."""


class ConfigError(KernelinfoError):
    """A configuration file that says what nothing can be made of; a line for each such thing."""


class BaselineError(KernelinfoError):
    """A baseline that cannot be read or written."""


class LaunchError(KernelinfoError):
    """A launch or a register count that no hardware takes, given by the user."""


class CompilerError(KernelinfoError):
    """A compiler that cannot be found or run, or that refuses its input."""


class TargetsError(KernelinfoError):
    """The table of hardware facts contradicts itself."""


class UnknownTargetError(KernelinfoError):
    """A processor that the table of hardware facts does not have."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        begun = [target for target in known if name and target.startswith(name.lower())]
        suggestion = f"did you mean {begun[0]}?" if begun else did_you_mean(name, known)
        hint = suggestion or "`kernelinfo arch` lists the known ones"
        super().__init__(f"unknown target {name!r}; {hint}")
        self.name = name


def did_you_mean(wanted: str, known: Iterable[str]) -> str:
    """`did you mean gemm?`, of the known name most like a misspelled one; empty if none is.

    Names from files may be long: those that nobody types are not compared.
    """
    if len(wanted) > _LONGEST_NAME:
        return ""
    from difflib import get_close_matches

    by_folded = {name.casefold(): name for name in known if len(name) <= _LONGEST_NAME}
    near = get_close_matches(wanted.casefold(), by_folded, n=1)
    return f"did you mean {by_folded[near[0]]}?" if near else ""
