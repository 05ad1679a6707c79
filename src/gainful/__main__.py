"""`python -m gainful` is `gainful`."""

import sys

from gainful.cli.start import start

sys.exit(start())
