"""Parsers of the values of settings: codes, severities, targets, versions, launches.

Each parser returns the value or raises RefusedError, which states the error and the valid values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx7xx
from ptxkit.diagnostics.catalogue.index import CODES
from ptxkit.limits import MAX_CTA_THREADS
from ptxkit.refusal import RefusedError
from ptxkit.settings.errors import nearest_hint
from ptxkit.settings.limits import MAX_CTAS, MAX_EFFORT, MIN_EFFORT
from ptxkit.settings.model import ALWAYS_ENABLED, EFFORTS, KernelLaunch

LIST_HINT = "`ptxkit explain` lists them"

_TARGET_HINT = "`ptxkit isa sm_90a` describes a target"
_REMOVE = "remove it from the list"

_FACTOR = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.ASCII)
_NAME = re.compile(r"[a-z][a-z-]+")


def known_codes() -> dict[str, str]:
    """Returns each known code with its name."""
    return {code: code.name for code in CODES}


def parse_code_prefix(text: str) -> str:
    """Parses a code, the beginning of one (`PTX4`, `PTX`), or a rule's name (`missing-proxy-fence`), and returns a
    prefix.
    """
    codes = known_codes()
    if _NAME.fullmatch(text):
        named = [code for code, name in codes.items() if name == text]
        if named:
            return named[0]
        raise RefusedError(f"there is no rule `{text}`", _nearest_hint(text, codes.values()) or LIST_HINT)
    prefix = text.upper()
    if prefix.startswith("PTX") and any(code.startswith(prefix) for code in codes):
        return prefix
    raise RefusedError(f"there is no code `{text}`", _nearest_hint(prefix, codes) or LIST_HINT)


def parse_ignored_prefix(text: str) -> str:
    """Parses a prefix of codes that are ignored."""
    prefix = parse_code_prefix(text)
    if prefix in ALWAYS_ENABLED:
        raise RefusedError(
            f"{prefix} cannot be ignored: such a file is not checked, and would appear to be clean", _REMOVE
        )
    return prefix


def parse_severity(text: str) -> Severity:
    """Parses `error`, `warning` or `note`."""
    try:
        return Severity(text.lower())
    except ValueError:
        raise RefusedError(f"`{text}` is not a severity", nearest_hint(text, Severity)) from None


def parse_code_severity(text: str) -> tuple[str, Severity]:
    """Parses `PTX706=note`."""
    code, equals, level = text.partition("=")
    if not equals:
        raise RefusedError(f"`{text}` is not of the form CODE=LEVEL", f"write `{ptx7xx.TENSOR_WAIT}=note`")
    prefix = parse_code_prefix(code.strip())
    if prefix in ALWAYS_ENABLED:
        raise RefusedError(f"{prefix} is always an error: such a file is not checked", _REMOVE)
    return prefix, parse_severity(level.strip())


def parse_effort(text: str) -> float:
    """Parses `low`, `normal`, `high`, or a factor such as `2` or `0.5`."""
    if text in EFFORTS:
        return EFFORTS[text]
    factor = float(text) if _FACTOR.fullmatch(text) else 0.0
    if not MIN_EFFORT <= factor <= MAX_EFFORT:
        choices = ", ".join(f"`{each}`" for each in EFFORTS)
        raise RefusedError(f"`{text}` is not an effort", f"write {choices}, or a factor such as `2`")
    return factor


def parse_target_name(text: str) -> str:
    """Parses a known target such as `sm_90a`."""
    from ptxkit.isa import table
    from ptxkit.isa.targets import canonical_target

    known = [each.name for each in table().module.targets]
    word = canonical_target(text)
    if word != text or word not in known:
        raise RefusedError(f"there is no target `{text}`", _nearest_hint(word or text, known) or _TARGET_HINT)
    return word


def parse_version(text: str) -> tuple[int, int]:
    """Parses a known version of PTX such as `8.7`."""
    from ptxkit.isa import table

    known = {f"{major}.{minor}": (major, minor) for major, minor in table().module.versions}
    if text not in known:
        raise RefusedError(
            f"there is no PTX version `{text}`", _nearest_hint(text, known) or f"the newest is `{[*known][-1]}`"
        )
    return known[text]


def parse_launch(text: str) -> KernelLaunch:
    """Parses `k:block=128,cluster=2`; without `k:` it applies to every kernel that has no separate launch."""
    kernel, colon, parts = text.rpartition(":")
    if colon and not kernel:
        raise RefusedError(f"`{text}` has no kernel before the colon", "write `k:block=128`")
    given: dict[str, tuple[int, int, int]] = {}
    for part in parts.split(","):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals:
            raise RefusedError(f"`{part}` is not a part of a launch", "write `block=128` or `cluster=2`")
        if key not in ("block", "cluster"):
            raise RefusedError(f"a launch has no key `{key}`", nearest_hint(key, ("block", "cluster")))
        if key in given:
            raise RefusedError(f"`{text}` has `{key}` twice", f"write one `{key}`")
        given[key] = _parse_shape(value, key)
    return KernelLaunch(kernel or None, given.get("block"), given.get("cluster"), text)


def _parse_shape(text: str, key: str) -> tuple[int, int, int]:
    words = text.split("x")
    if not 1 <= len(words) <= 3 or not all(word.isdecimal() and len(word) < 6 and int(word) for word in words):
        raise RefusedError(f"`{text}` is not a shape", f"write `{key}=128` or `{key}=16x8`")
    x, y, z = (*map(int, words), 1, 1)[:3]
    most = MAX_CTA_THREADS if key == "block" else MAX_CTAS
    if x * y * z > most:
        what = "a block has at most 1,024 threads" if key == "block" else "a cluster has at most 16 CTAs"
        raise RefusedError(f"`{key}={text}` is too large: {what}", "write a smaller shape")
    return x, y, z


def _nearest_hint(word: str, known: Iterable[str]) -> str:
    """Returns a hint with the nearest word, or an empty text if no word is near, because a list of all would be too
    long.
    """
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1)
    return f"did you mean `{near[0]}`?" if near else ""
