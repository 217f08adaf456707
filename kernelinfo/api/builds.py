"""Two builds compared, and the gate."""

from kernelinfo.compare import Comparison as Comparison
from kernelinfo.compare.changes import Pair as Pair
from kernelinfo.compare.saved import diff as diff
from kernelinfo.compare.summary import KernelNumbers as KernelNumbers
from kernelinfo.compare.summary import KernelSummary as KernelSummary
from kernelinfo.config import Configuration as Configuration
from kernelinfo.config import read_config as read_config
from kernelinfo.gate import check as check
from kernelinfo.gate.outcome import Judged as Judged
from kernelinfo.gate.outcome import Notice as Notice
from kernelinfo.gate.outcome import Outcome as Outcome
from kernelinfo.gate.outcome import Suppressed as Suppressed
