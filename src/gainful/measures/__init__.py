"""Measures: each is one decorated function; importing this package registers all of them."""

from gainful.measures import binary, cascade, dcg, diversity, incomplete, sampled, sets  # noqa: F401
from gainful.measures.grammar import parse_measure, parse_measures
from gainful.measures.registry import PRESETS, REGISTRY, Definition, Measure, load_installed, measure, unregister

__all__ = ["PRESETS", "REGISTRY", "Definition", "Measure"]
__all__ += ["load_installed", "measure", "parse_measure", "parse_measures", "unregister"]
