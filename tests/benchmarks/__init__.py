"""kernelinfo against what there is, as ratios of runs in turn: `python -m tests.benchmarks`."""
