"""gainful: measure rankings, and measure the measures.

>>> import gainful as gf
>>> gf.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.5}}, "nDCG@10").mean()["nDCG@10"].to_list()
[1.0]
"""

import sys

if sys.orig_argv[1:3] == ["-m", "gainful"] or "".join(sys.orig_argv[1:2]).endswith("/gainful"):
    # The command begins: until `gainful.cli.start` heeds it, Ctrl-C ends the process, and without a traceback.
    import _signal

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import lazy_loader

# Names are listed in __init__.pyi and imported when first used: `import gainful` costs nothing.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
