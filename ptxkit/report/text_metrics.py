"""How wide a text is in a drawing, at most, in the fonts that pages name.

The widths are those of DejaVu Sans and DejaVu Sans Mono, the widest of them.
"""

from __future__ import annotations

_MONO_WIDTH = 0.603
_CAPITAL_WIDTH = 0.78
_WIDTHS = {
    **dict.fromkeys("ijl'|.,:;! I", 0.4),
    **dict.fromkeys('frt()[]-/\\"', 0.46),
    **dict.fromkeys("acesvxyzk_?*", 0.64),
    **dict.fromkeys("bdghnopqu0123456789$\u2013", 0.64),
    **dict.fromkeys("mwMW%@\u2026", 1.03),
}
"""Of a letter, as a part of the size of the font."""
_STRONG = 1.13
"""Bold letters are wider than others."""


def text_width(text: str, size: float, *, is_mono: bool = False, is_strong: bool = False) -> float:
    """The width in pixels. size: of the font, in pixels."""
    if is_mono:
        return len(text) * _MONO_WIDTH * size
    width = sum(_WIDTHS.get(letter, _CAPITAL_WIDTH) for letter in text) * size
    return width * _STRONG if is_strong else width
