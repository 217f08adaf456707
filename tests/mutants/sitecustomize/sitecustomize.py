"""Begins the recording in a child process of a test: see `recording`."""

import os
import runpy

if file := os.environ.get("KERNELINFO_RECORD"):
    root = os.environ["KERNELINFO_RECORDED_ROOT"]
    runpy.run_path(f"{root}/tests/mutants/recording.py")["begin"](file, root)
