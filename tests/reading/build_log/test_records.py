"""Optimization records in every way in which YAML may write them, held to PyYAML."""

from __future__ import annotations

import pytest
import yaml

from kernelinfo.reading.budget import UNBOUNDED
from kernelinfo.reading.build_log import records
from kernelinfo.reading.build_log.blocks import NOWHERE, LogLocation, LogStatement
from kernelinfo.reading.facts import ReadWarnings

RECORD = """--- !Analysis
Pass:            kernel-resource-usage
Name:            NumVGPR
DebugLoc:        {location}
Function:        k
Args:
  - String:          '    VGPRs: '
  - NumVGPR:         {value}
...
"""
LOCATION = "{ File: 'x.hip', Line: 12, Column: 3 }"


def read(text: str) -> tuple[list[LogStatement], list[str]]:
    warnings = ReadWarnings()
    found = list(records.statements(text.encode(), warnings, UNBOUNDED))
    return found, [warning.message for warning in warnings.take()]


@pytest.mark.parametrize(
    "value",
    [
        "7",
        "'7'",
        '"7"',
        "'it''s'",
        r'"\x01k"',
        r'"\u00e9 \"k\" \\"',
        r'"\U0001F600"',
        "_Z1kILi1EEvv",
    ],
)
def test_values(value: str) -> None:
    [statement], _ = read(RECORD.format(location=LOCATION, value=value))
    assert statement.value == str(yaml.safe_load(value))
    assert statement == LogStatement(LogLocation("x.hip", 12, 3), "VGPRs", statement.value, 1)


@pytest.mark.parametrize(
    "location",
    [
        LOCATION,
        "{ File: x.hip, Line: 12, Column: 3 }",
        "{ File: 'a, b/''c''.hip',\n                   Line: 12, Column: 3 }",
    ],
)
def test_locations(location: str) -> None:
    [statement], _ = read(RECORD.format(location=location, value="'7'"))
    written = yaml.safe_load(location)
    assert statement.location == LogLocation(written["File"], written["Line"], written["Column"])


def test_line_ends_of_windows() -> None:
    text = RECORD.format(location=LOCATION, value="'7'")
    assert read(text.replace("\n", "\r\n")) == read(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RECORD.replace("...\n", ""), "the record is cut off"),
        (RECORD.replace("...\n", "") + RECORD, "the record is cut off"),
        (RECORD.replace("Name:   ", "Name: &a"), "the record has no name"),
        (RECORD.replace("- NumVGPR", "- NumSGPR"), "the record states no NumVGPR"),
        (RECORD.replace("{value}", r'"\xZZ"'), r"the record has the escape '\\xZZ'"),
    ],
)
def test_what_no_compiler_writes(text: str, message: str) -> None:
    _, [found] = read(text)
    assert found == message


def test_a_number_without_a_location() -> None:
    text = "".join(line for line in RECORD.splitlines(True) if "DebugLoc" not in line)
    assert [statement.location for statement in read(text)[0]] == [NOWHERE]
