"""Registers along the code, and variants of it."""

from kernelinfo.pressure.measure import live_registers as live_registers
from kernelinfo.pressure.nouns import Story as Story
from kernelinfo.variants.nouns import Sweep as Sweep
from kernelinfo.variants.sweeping import sweep as sweep
