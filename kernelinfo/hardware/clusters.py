"""Clusters: workgroups that start together."""

from __future__ import annotations

from typing import NamedTuple


class Clusters(NamedTuple):
    """The runtime's limits on clusters."""

    workgroups: int  # per cluster
    in_flight: int  # clusters per shader engine at a time
    source: str
