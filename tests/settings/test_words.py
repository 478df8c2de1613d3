"""Codes, severities, targets, versions and launches as they are written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ptxkit.diagnostics import Severity
from ptxkit.settings import words
from ptxkit.settings.model import KernelLaunch


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (words.parse_code_prefix, "PTX401", "PTX401"),
        (words.parse_code_prefix, "ptx4", "PTX4"),
        (words.parse_code_prefix, "PTX", "PTX"),
        (words.parse_code_prefix, "missing-proxy-fence", "PTX401"),
        (words.parse_ignored_prefix, "PTX1", "PTX1"),
        (words.parse_severity, "note", Severity.NOTE),
        (words.parse_code_severity, "PTX4 = warning", ("PTX4", Severity.WARNING)),
        (words.parse_target_name, "sm_90a", "sm_90a"),
        (words.parse_version, "8.7", (8, 7)),
        (
            words.parse_launch,
            "k:block=128,cluster=2",
            KernelLaunch("k", (128, 1, 1), (2, 1, 1), "k:block=128,cluster=2"),
        ),
        (words.parse_launch, "block=16x8", KernelLaunch(None, (16, 8, 1), None, "block=16x8")),
        (words.parse_launch, "a*:cluster=2x2x2", KernelLaunch("a*", None, (2, 2, 2), "a*:cluster=2x2x2")),
    ],
)
def test_a_word_has_its_value(read: Callable[[str], object], text: str, value: object) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (words.parse_code_prefix, "PTX41", "there is no code `PTX41`; did you mean `PTX401`?"),
        (words.parse_code_prefix, "E501", "there is no code `E501`; did you mean `PTX501`?"),
        (words.parse_code_prefix, "missing-proxy-fense", "did you mean `missing-proxy-fence`?"),
        (words.parse_code_prefix, "", "there is no code ``; `ptxkit rule` lists them"),
        (words.parse_ignored_prefix, "PTX101", "PTX101 cannot be ignored"),
        (words.parse_severity, "warn", "`warn` is no severity; did you mean `warning`?"),
        (words.parse_code_severity, "PTX4", "`PTX4` is no CODE=LEVEL: write PTX706=note"),
        (words.parse_code_severity, "PTX101=note", "PTX101 is always an error"),
        (words.parse_target_name, "sm_91", "there is no target `sm_91`; did you mean `sm_"),
        (words.parse_target_name, "compute_90", "did you mean `sm_90`?"),
        (words.parse_version, "8.9", "there is no PTX version `8.9`"),
        (words.parse_version, "nine", "there is no PTX version `nine`"),
        (words.parse_launch, "k:bloc=128", "a launch has no `bloc`; did you mean `block`?"),
        (words.parse_launch, "k:grid=128", "a launch has no `grid`; there are `block`, `cluster`"),
        (words.parse_launch, "k:128", "`128` is no part of a launch: write block=128 or cluster=2"),
        (words.parse_launch, ":block=128", "names no kernel before the colon"),
        (words.parse_launch, "k:block=128,block=64", "gives block twice"),
        (words.parse_launch, "k:block=0", "`0` is no shape: write block=128 or block=16x8"),
        (words.parse_launch, "k:block=1x2x3x4", "`1x2x3x4` is no shape"),
        (words.parse_launch, "k:block=1025", "a block has at most 1,024 threads"),
        (words.parse_launch, "k:cluster=17", "a cluster has at most 16 CTAs"),
    ],
)
def test_a_word_that_is_none_says_why_and_what_was_meant(
    read: Callable[[str], object], text: str, message: str
) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011 (the text is looked at)
        read(text)
    assert message in str(raised.value)
