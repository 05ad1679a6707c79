"""Readers and writers of qrels and runs: files in, `Qrels` and `Run` out, and back."""

from gainful.io.read import iterate_runs, read_qrels, read_run, read_runs
from gainful.io.write import write_atomically, write_qrels, write_run

__all__ = ["iterate_runs", "read_qrels", "read_run", "read_runs", "write_atomically", "write_qrels", "write_run"]
