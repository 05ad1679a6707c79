"""All exhibits of the study of gains and discounts, and what each stands on."""

from __future__ import annotations

from collections.abc import Sequence

from gainful.studies import gain_discount_figures as figures
from gainful.studies import gain_discount_tables as tables
from gainful.studies.gain_discount_found import BOTH, FREE, GAIN, HELD_OUT, Found, Plan
from gainful.studies.result import Exhibit

# What an exhibit stands on, to tell why it could not be made.
NEEDS = {
    "Table 2": GAIN,
    "Table 3": GAIN,
    "Figure 8": GAIN,
    "Figure 6": BOTH,
    "Figure 9": BOTH,
    "Figure 3": FREE,
    "Held-out Φ": HELD_OUT,
}


def exhibits(found: Sequence[Found], plan: Plan) -> list[Exhibit]:
    """All of them, in the paper's order; those that the data do not allow have no rows."""
    deep = {one.name: one.deep for one in found if one.deep is not None}
    gains = {one.name: one.deep_gain for one in found if one.deep_gain is not None}
    return [
        figures.figure_2(found),
        figures.figure_3(found),
        figures.figure_4(deep),
        tables.table_1(deep, plan),
        tables.table_2(found, plan),
        figures.figure_5(found),
        tables.table_3(gains, plan),
        tables.held_out(deep),
        figures.figure_6(found, plan),
        figures.figure_7(deep),
        tables.table_4(deep),
        figures.figure_8(gains),
        figures.figure_9(found, plan),
    ]
