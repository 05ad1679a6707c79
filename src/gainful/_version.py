"""The version, on its own: whoever needs it imports nothing else."""

__version__ = "0.2.0"
