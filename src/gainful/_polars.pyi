from polars import *  # noqa: F403
