"""Measures: each is one decorated function; importing this package registers all of them."""

from gainful.measures import binary, cascade, dcg, filtering, incomplete, sets
from gainful.measures.grammar import parse_measure, parse_measures
from gainful.measures.installed import load_installed
from gainful.measures.registry import PRESETS, REGISTRY, Definition, Measure, measure, unregister

__all__ = [
    "PRESETS",
    "REGISTRY",
    "Definition",
    "Measure",
    "binary",
    "cascade",
    "dcg",
    "filtering",
    "incomplete",
    "load_installed",
    "measure",
    "parse_measure",
    "parse_measures",
    "sets",
    "unregister",
]
