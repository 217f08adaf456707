"""Occupancy without a file."""

from kernelinfo.occupancy.calculator import Arch as Arch
from kernelinfo.occupancy.calculator import Rung as Rung
from kernelinfo.occupancy.calculator import arch as arch
