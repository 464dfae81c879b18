"""Text in pictures: how wide it will be, how it is cut to fit, and how it is escaped for XML.

Fonts are not known when a picture is drawn, so widths are the wider of two common sans faces: text never overruns.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final

ELLIPSIS: Final = "…"

#: Hundredths of an em by character, for the bold cut of a sans face.
_WIDTHS: Final[dict[str, int]] = {
    character: width
    for width, characters in (
        (30, "' ,.Iijl"),
        (38, "!()/:;[\\]ft{|}r"),
        (48, '"-`'),
        (58, "*1J_sxz?Lk"),
        (64, "257F^abcdeghnopquvy"),
        (67, "#$+034689<=>EPSTZ~"),
        (74, "&ABCDHKNRUVXY"),
        (79, "GOQ"),
        (85, "w"),
        (91, "%Mm"),
        (102, "@W"),
    )
    for character in characters
}

_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BREAKS: Final = re.compile("[\\s\x00-\x1f\x7f-\x9f]+")
_TEXT: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_ATTRIBUTE: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)


def text(value: str) -> str:
    """`value` as XML character data; what XML 1.0 cannot hold becomes U+FFFD."""
    return _FORBIDDEN.sub("\ufffd", value).translate(_TEXT)


def attribute(value: str) -> str:
    """`value` between double quotes; a parser gives back the same text, line ends included."""
    return _FORBIDDEN.sub("\ufffd", value).translate(_ATTRIBUTE)


def one_line(value: str) -> str:
    """`value` with every run of white space and control characters as one space, for a label."""
    return _BREAKS.sub(" ", value).strip()


@lru_cache(maxsize=4096)
def _ems(character: str) -> int:
    """The width of a character that is not in the table."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 102 if unicodedata.east_asian_width(character) in "WF" or ord(character) >= 0x1F000 else 80


@lru_cache(maxsize=8192)
def width(value: str, size: float) -> float:
    """The width of sans text in pixels, rather a little too much than too little."""
    known = _WIDTHS.get
    return sum([known(character) or _ems(character) for character in value]) * size / 100


@lru_cache(maxsize=4096)
def mono_width(value: str, size: float) -> float:
    """The width of monospaced text in pixels."""
    if value.isascii():
        return len(value) * size * 0.61
    return sum([61 if character.isascii() else _ems(character) * 1.2 for character in value]) * size / 100


@lru_cache(maxsize=4096)
def cut(value: str, room: float, *, size: float, measure: Callable[[str, float], float] = width) -> str:
    """`value` if it fits into `room` pixels, else its two ends around an ellipsis: ids differ at their ends."""
    if measure(value, size) <= room:
        return value
    sizes = [measure(character, size) for character in value]
    left = right = 0
    used = measure(ELLIPSIS, size)
    while left + right < len(value):
        step = sizes[left] if left <= right else sizes[-1 - right]
        if used + step > room:
            break
        used += step
        if left <= right:
            left += 1
        else:
            right += 1
    return value[:left].rstrip() + ELLIPSIS + _tail(value, right)


def _tail(value: str, length: int) -> str:
    """The last `length` characters, without a mark that has lost its letter."""
    while length and unicodedata.combining(value[-length]):
        length -= 1
    return value[len(value) - length :].lstrip()
