"""Learning to rank and filter: rankers that also leave out what must not be shown. Needs the extra `[ltrf]`.

>>> import gainful as gf
>>> callable(gf.ltrf.train)
True
"""

import lazy_loader

# Names are listed in __init__.pyi and imported when first used: torch and LightGBM not before they are needed.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
