"""What callers may choose among, by name; nothing heavy is imported here, as signatures need it."""

from __future__ import annotations

from typing import Literal

Test = Literal["t", "wilcoxon", "randomisation", "bootstrap", "tukey"]
Correction = Literal["holm", "bonferroni", "bh", "none"]
Interval = Literal["t", "bca"]
# Of the paired bootstrap: what is compared between a resample and what was observed.
Variant = Literal["studentized", "shifted", "sign"]
