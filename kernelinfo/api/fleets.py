"""Many builds as one dataset; their libraries are those of the extra `fleet`."""

from kernelinfo.fleet.api import scan as scan
from kernelinfo.fleet.api import trend as trend
from kernelinfo.fleet.history import Trend as Trend
