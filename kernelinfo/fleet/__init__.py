"""Fleets: a scan reads many builds into one Parquet dataset, and DuckDB queries it."""
