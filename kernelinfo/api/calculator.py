"""Occupancy without a file."""

from kernelinfo.model.calculator import Arch as Arch
from kernelinfo.model.calculator import Rung as Rung
from kernelinfo.model.calculator import arch as arch
from kernelinfo.model.calculator import occupancy as occupancy
