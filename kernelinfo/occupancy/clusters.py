"""Clusters of workgroups, which start together."""

from __future__ import annotations

from typing import NamedTuple


class Clusters(NamedTuple):
    """The limits that the runtime keeps to."""

    workgroups: int  # of one cluster
    in_flight: int  # clusters of one shader engine at a time
    source: str
