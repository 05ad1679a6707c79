"""Tests, corrections, intervals and correlations: arrays in, arrays out; nothing here knows what a topic is."""
