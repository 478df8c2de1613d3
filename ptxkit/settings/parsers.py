"""The texts that settings are written in, read: codes, severities, targets, versions, launches.

Each reader gives the value or raises ValueError, whose text says what is wrong and what to write.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx7xx
from ptxkit.diagnostics.catalogue.index import CODES
from ptxkit.limits import MAX_CTA_THREADS
from ptxkit.settings.errors import nearest_hint
from ptxkit.settings.limits import MAX_CTAS
from ptxkit.settings.model import ALWAYS_ENABLED, KernelLaunch

LIST_HINT = "; `ptxkit rule` lists them"

_NAME = re.compile(r"[a-z][a-z-]+")


def known_codes() -> dict[str, str]:
    """Each code that there is, with its name."""
    return {code: code.name for code in CODES}


def parse_code_prefix(text: str) -> str:
    """A code, the beginning of one (`PTX4`, `PTX`), or a rule's name (`missing-proxy-fence`, whose code it gives)."""
    codes = known_codes()
    if _NAME.fullmatch(text):
        named = [code for code, name in codes.items() if name == text]
        if named:
            return named[0]
        raise ValueError(f"there is no rule `{text}`{_nearest_hint(text, codes.values()) or LIST_HINT}")
    prefix = text.upper()
    if prefix.startswith("PTX") and any(code.startswith(prefix) for code in codes):
        return prefix
    raise ValueError(f"there is no code `{text}`{_nearest_hint(prefix, codes) or LIST_HINT}")


def parse_ignored_prefix(text: str) -> str:
    """The same of what is to be ignored."""
    prefix = parse_code_prefix(text)
    if prefix in ALWAYS_ENABLED:
        raise ValueError(f"{prefix} cannot be ignored: such a file is not checked, and would appear to be clean")
    return prefix


def parse_severity(text: str) -> Severity:
    """`error`, `warning` or `note`."""
    try:
        return Severity(text.lower())
    except ValueError:
        raise ValueError(f"`{text}` is not a severity{nearest_hint(text, Severity)}") from None


def parse_code_severity(text: str) -> tuple[str, Severity]:
    """`PTX706=note`."""
    code, equals, level = text.partition("=")
    if not equals:
        raise ValueError(f"`{text}` is not of the form CODE=LEVEL: write {ptx7xx.TENSOR_WAIT}=note")
    prefix = parse_code_prefix(code.strip())
    if prefix in ALWAYS_ENABLED:
        raise ValueError(f"{prefix} is always an error: such a file is not checked")
    return prefix, parse_severity(level.strip())


def parse_target_name(text: str) -> str:
    """`sm_90a`: a target that there is."""
    from ptxkit.isa import table
    from ptxkit.isa.targets import canonical_target

    known = [each.name for each in table().module.targets]
    word = canonical_target(text)
    if word != text or word not in known:
        raise ValueError(f"there is no target `{text}`{_nearest_hint(word or text, known)}")
    return word


def parse_version(text: str) -> tuple[int, int]:
    """`8.7`: a version of PTX that there is."""
    from ptxkit.isa import table

    known = {f"{major}.{minor}": (major, minor) for major, minor in table().module.versions}
    if text not in known:
        raise ValueError(f"there is no PTX version `{text}`{_nearest_hint(text, known)}")
    return known[text]


def parse_launch(text: str) -> KernelLaunch:
    """`k:block=128,cluster=2`; without `k:` for every kernel that does not say so itself."""
    kernel, colon, parts = text.rpartition(":")
    if colon and not kernel:
        raise ValueError(f"`{text}` has no kernel before the colon: write k:block=128")
    given: dict[str, tuple[int, int, int]] = {}
    for part in parts.split(","):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals:
            raise ValueError(f"`{part}` is not a part of a launch: write block=128 or cluster=2")
        if key not in ("block", "cluster"):
            raise ValueError(f"a launch has no key `{key}`{nearest_hint(key, ('block', 'cluster'))}")
        if key in given:
            raise ValueError(f"`{text}` gives {key} twice")
        given[key] = _parse_shape(value, key)
    return KernelLaunch(kernel or None, given.get("block"), given.get("cluster"), text)


def _parse_shape(text: str, key: str) -> tuple[int, int, int]:
    words = text.split("x")
    if not 1 <= len(words) <= 3 or not all(word.isdecimal() and len(word) < 6 and int(word) for word in words):
        raise ValueError(f"`{text}` is not a shape: write {key}=128 or {key}=16x8")
    x, y, z = (*map(int, words), 1, 1)[:3]
    most = MAX_CTA_THREADS if key == "block" else MAX_CTAS
    if x * y * z > most:
        what = "a block has at most 1,024 threads" if key == "block" else "a cluster has at most 16 CTAs"
        raise ValueError(f"{key}={text} is too large: {what}")
    return x, y, z


def _nearest_hint(word: str, known: Iterable[str]) -> str:
    """What was meant; nothing where no word is near: a list of all would be too long."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1)
    return f"; did you mean `{near[0]}`?" if near else ""
