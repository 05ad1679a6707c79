"""What vl-convert makes of charts; where it would end the process that calls it, it works in another."""

from __future__ import annotations

import re
import sys
from typing import Any, Literal

from gainful.errors import GainfulError

_CHILD = """
import json, sys, vl_convert
name, words, options = json.load(sys.stdin)
found = getattr(vl_convert, name)(*words, **options)
sys.stdout.buffer.write(found.encode() if isinstance(found, str) else found)
"""
_WHY = (
    "charts cannot be drawn here: vl-convert reserves more address space than this process may have (ulimit -v). "
    "Allow more (ulimit -v unlimited), or write .json and draw it elsewhere"
)

# Pixels on the right of an SVG: the letters of a browser may be wider than those that were measured.
_ROOM = 24
_SIZE = re.compile(rb'width="(\d+)" (height="\d+") viewBox="0 0 \d+ (\d+)"><rect width="\d+"')


def svg(specification: Any) -> bytes:
    """A chart as SVG."""
    return widened(converted("vegalite_to_svg", specification))


def widened(drawing: bytes) -> bytes:
    """An SVG of vl-convert with some more room on the right."""

    def wider(found: re.Match[bytes]) -> bytes:
        width, height, tall = int(found[1]) + _ROOM, found[2], found[3]
        return b'width="%d" %b viewBox="0 0 %d %b"><rect width="%d"' % (width, height, width, tall, width)

    return _SIZE.sub(wider, drawing, count=1)


def converted(
    function: Literal["javascript_bundle", "vegalite_to_svg", "vegalite_to_png", "vegalite_to_pdf"],
    *words: Any,
    **options: Any,
) -> bytes:
    """What a function of vl-convert gives, texts in UTF-8.

    Its engine, V8, reserves much address space. Where that is limited it fails, and takes the process with it; there it
    is given one of its own.
    """
    if not _is_limited():
        import vl_convert

        found = getattr(vl_convert, function)(*words, **options)
        return found.encode() if isinstance(found, str) else bytes(found)
    import json
    import subprocess

    command = [sys.executable, "-c", _CHILD]
    given = json.dumps([function, words, options]).encode()
    done = subprocess.run(command, input=given, capture_output=True)  # noqa: S603 (this Python, and what stands above)
    if done.returncode:
        raise GainfulError(_WHY)
    return done.stdout


def _is_limited() -> bool:
    try:
        import resource
    except ImportError:  # Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
