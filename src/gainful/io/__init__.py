"""Readers and writers of qrels and runs: files in, `Qrels` and `Run` out, and back."""
