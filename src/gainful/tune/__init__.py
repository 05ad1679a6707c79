"""Tuning the measure itself: gains and discounts that make scores reliable, and thresholds."""
