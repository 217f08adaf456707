"""Errors that a user can cause, and their messages. Any other exception is a bug of kernelinfo."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

_LONGEST_NAME = 200
"""Longest name, in characters, to compare for a suggestion."""
_LONGEST_REASON = 300
_Read = TypeVar("_Read")
_Reported = TypeVar("_Reported")


class Message(str):
    """A sentence for the user, with a code that stays when the wording changes."""

    __slots__ = ("code",)
    code: str
    """`zip-damaged`."""

    def __new__(cls, sentence: str, code: str) -> "Message":
        message = super().__new__(cls, sentence)
        message.code = code
        return message

    def __reduce__(self) -> tuple[Any, ...]:
        return Message, (str(self), self.code)  # files are read in other processes, too


def wording(messages: Mapping[str, str]) -> Callable[..., Message]:
    """The function that formats the messages of a package: `say("zip-damaged", error=error)`.

    `messages` holds a sentence in the form of `str.format` for each code. If the fact
    `reason` is itself a message, the sentence says where it happened and takes its code.
    """

    def say(code: str, /, **facts: object) -> Message:
        reason = facts.get("reason")
        sentence = messages[code].format(**facts)
        return Message(sentence, reason.code if isinstance(reason, Message) else code)

    return say


MESSAGES = {
    "target-unknown": "unknown target {name!r}; {hint}",
    "targets-listed": "`kernelinfo arch` lists the known ones",
    "did-you-mean": "did you mean {names}?",
    "read-interrupted": "cannot be read: {error}; try again",
    "bug": "kernelinfo failed ({error}); please report it",
}
say = wording(MESSAGES)


class KernelinfoError(Exception):
    """Base of all errors. A line of the message reads `where: what was found; what to do`."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message

    @property
    def code(self) -> str:
        """Code of the error, which stays when the wording changes: `zip-damaged`."""
        return self.message.code


class ReadError(KernelinfoError):
    """An input that cannot be read, or is not in the format that it claims."""


class BoundError(KernelinfoError):
    """A file that exceeds a bound on the whole file: on bytes, members, kernels or statements."""


class OptionError(KernelinfoError):
    """An option with an invalid value."""


class ConfigError(KernelinfoError):
    """A configuration file with errors; the message has one line for each."""


class BaselineError(KernelinfoError):
    """A baseline that cannot be read or written."""


class LaunchError(KernelinfoError):
    """A launch, a wave size or a number of registers that the hardware does not have or allow."""


class CompilerError(KernelinfoError):
    """A compiler that is missing, fails to start or rejects its input."""


class UnknownTargetError(KernelinfoError):
    """A processor that is not in the table of hardware facts."""

    def __init__(self, name: str, targets: tuple[str, ...]) -> None:
        begun = [target for target in targets if name and target.startswith(name.lower())]
        suggestion = or_list(begun[:1]) or did_you_mean(name, targets)
        hint = suggestion or say("targets-listed")
        super().__init__(say("target-unknown", name=name, hint=hint))
        self.name = name
        self._targets = targets

    def __reduce__(self) -> tuple[Any, ...]:
        return UnknownTargetError, (self.name, self._targets)  # a pool's process may raise it


class UnknownKernelError(KernelinfoError):
    """A name that no kernel of a report has, or that several have."""


def did_you_mean(word: str, names: Iterable[str], count: int = 1) -> str:
    """A suggestion for a misspelled name: `did you mean gemm, gemv or copy?`, the nearest first.

    Suggests up to `count` of the `names`, and nothing if none is close. Names over 200 characters
    are not compared: nobody types them.
    """
    from difflib import get_close_matches  # 3 million instructions, for mistakes alone

    if len(word) > _LONGEST_NAME:
        return ""
    by_folded = {name.casefold(): name for name in names if len(name) <= _LONGEST_NAME}
    near = get_close_matches(word.casefold(), by_folded, n=count)
    return or_list([by_folded[name] for name in near])


def or_list(names: Sequence[str]) -> str:
    """These names as a suggestion: `did you mean gemm, gemv or copy?`; empty without names."""
    *first, last = names or ("",)
    listed = " or ".join(filter(None, (", ".join(first), last)))
    return say("did-you-mean", names=listed) if listed else ""


def bug(error: Exception) -> Message:
    """Message on an unexpected exception while one kernel, file or member was read.

    Raises the exception again if it is not a bug: a `KernelinfoError`, which a user can cause, or
    lack of memory. An `OSError` is reported in the system's words.
    """
    if isinstance(error, KernelinfoError | MemoryError):
        raise error
    if isinstance(error, OSError) and error.strerror:
        return say("read-interrupted", error=error.strerror.lower())
    what = f"{type(error).__name__}: {error}".partition("\n")[0][:_LONGEST_REASON]
    return say("bug", error=what)


def survived(
    items: Iterable[_Read], report: Callable[[Message], _Reported]
) -> Iterator[_Read | _Reported]:
    """The items. If an unexpected exception ends them, the last item is what `report` returns for
    the message of `bug`. Errors that `bug` raises again are raised."""
    try:
        yield from items
    except Exception as error:
        yield report(bug(error))
