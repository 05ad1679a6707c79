"""`python -m gainful` is `gainful`."""

import sys

from gainful.cli.main import main

sys.exit(main())
