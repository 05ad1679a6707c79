"""Tuning the measure itself: gains and discounts that make scores reliable, and thresholds."""

from gainful.tune import threshold as threshold
