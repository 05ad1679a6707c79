"""Measuring the measures: how far scores can be trusted. Every analysis starts from scores of systems × topics."""
