"""Hardware facts of each target, and register counts that follow from them alone."""
