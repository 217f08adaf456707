"""Looks at files that change: what moved in their kernels since the look before."""

from kernelinfo.watch.files import FolderTree as FolderTree
from kernelinfo.watch.files import Outputs as Outputs
from kernelinfo.watch.history import with_peaks as with_peaks
from kernelinfo.watch.loop import WatchedOutputs as WatchedOutputs
from kernelinfo.watch.nouns import WatchLook as WatchLook
from kernelinfo.watch.reading import Sources as Sources
