"""Random bit patterns of a type, including edge cases, which are the same in every process."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

from ptxkit.emulator.core.numbers.float_codec import narrow
from ptxkit.emulator.core.numbers.formats import FORMATS, Format
from ptxkit.isa.functions import bits, kind

PATTERNS_PER_BATCH = 8192
"""The patterns of an operand in one run."""

Words = np.ndarray[Any, np.dtype[np.uint64]]


def operand_patterns(word: str, place: int, turn: int, seed: int) -> Words:
    """Returns the patterns of an operand by its type and its index among the inputs."""
    random = np.random.default_rng([crc32(word.encode()), place, turn, seed])
    base, _, count = word.partition("x")
    if kind(word) != "f" or base.removesuffix("p4") not in FORMATS:
        return _integers(word, place, turn, random)
    fmt = FORMATS[base.removesuffix("p4")]
    times = int(count or 1)
    stride = np.uint64(max(bits(word), 8) // times)
    found = np.zeros(PATTERNS_PER_BATCH, np.uint64)
    for element in range(times):
        codes = _floats(fmt, place if element == 0 else 10 + element, turn, random)
        found |= codes << (stride * np.uint64(element))
    return found


def edge_values(word: str) -> list[int]:
    """Returns the edge patterns of a type; packed ones have equal elements."""
    base, _, count = word.partition("x")
    if kind(word) == "f" and base.removesuffix("p4") in FORMATS:
        fmt, times = FORMATS[base.removesuffix("p4")], int(count or 1)
        stride = max(bits(word), 8) // times
        return [sum(int(code) << (stride * each) for each in range(times)) for code in _edges(fmt)]
    top = (1 << bits(word)) - 1
    half = 1 << (bits(word) - 1)
    return sorted({each & top for each in (0, 1, 2, top, top - 1, half, half - 1, half + 1)})


def _floats(fmt: Format, place: int, turn: int, random: np.random.Generator) -> Words:
    """Returns codes: of at most 16 bits, all in order for the first operand; otherwise random ones, neighbors, and
    edges.
    """
    if fmt.width <= 16 and place == 0:
        return (np.arange(PATTERNS_PER_BATCH, dtype=np.uint64) + np.uint64(PATTERNS_PER_BATCH * turn)) & np.uint64(
            (1 << fmt.width) - 1
        )
    any_code = random.integers(0, 1 << fmt.width, PATTERNS_PER_BATCH, dtype=np.uint64)
    scale = random.integers(-20, 20, PATTERNS_PER_BATCH)
    with np.errstate(all="ignore"):
        values = np.ldexp(random.standard_normal(PATTERNS_PER_BATCH), scale)
        near = narrow(fmt, values).astype(np.uint64)
        whole = narrow(fmt, np.rint(values * 64) / 2.0).astype(np.uint64)
    edges = random.choice(_edges(fmt), PATTERNS_PER_BATCH)
    choice = random.integers(0, 4, PATTERNS_PER_BATCH)
    return np.choose(choice, [any_code, near, whole, edges]).astype(np.uint64)


def _edges(fmt: Format) -> Words:
    """Returns codes around zero, the smallest normal number, one, the largest number, infinity, and NaNs, with either
    sign.
    """
    fraction = 1 << fmt.fraction_bits
    one = fmt.bias << fmt.fraction_bits
    codes = [0, 1, 2, 3, fraction - 1, fraction, fraction + 1, 2 * fraction - 1, 2 * fraction, one - fraction, one]
    codes += [one - 2, one - 1, one + 1, one + 2, one + fraction // 2, one + fraction, one + 2 * fraction, fmt.maximum]
    codes += [fmt.maximum - 1, fmt.maximum - fraction]
    if fmt.infinity is not None:
        codes += [fmt.infinity, fmt.infinity + 1, fmt.infinity + fraction // 2, fmt.infinity + fraction // 2 + 5]
        codes += [fmt.infinity + fraction - 1]
    elif fmt.nan is not None:
        codes.append(fmt.nan)
    positive = np.array([code for code in codes if code >= 0], np.uint64)
    return np.concatenate([positive, positive | np.uint64(fmt.sign)]) << np.uint64(fmt.shift)


def _integers(word: str, place: int, turn: int, random: np.random.Generator) -> Words:
    """Returns random patterns, small numbers of either sign, powers of two and their neighbors."""
    width = bits(word)
    if width <= 16 and place == 0:
        return (np.arange(PATTERNS_PER_BATCH, dtype=np.uint64) + np.uint64(PATTERNS_PER_BATCH * turn)) & np.uint64(
            (1 << width) - 1
        )
    any_pattern = random.integers(0, 1 << 64, PATTERNS_PER_BATCH, dtype=np.uint64, endpoint=False)
    small = random.integers(-70, 70, PATTERNS_PER_BATCH).astype(np.int64).view(np.uint64)
    power = np.uint64(1) << random.integers(0, 64, PATTERNS_PER_BATCH).astype(np.uint64)
    near_powers = power + random.integers(-1, 2, PATTERNS_PER_BATCH).astype(np.int64).view(np.uint64)
    negative = np.uint64(0) - near_powers
    choice = random.integers(0, 4, PATTERNS_PER_BATCH)
    mask = np.uint64((1 << min(width, 64)) - 1)
    return np.choose(choice, [any_pattern, small, near_powers, negative]).astype(np.uint64) & mask
