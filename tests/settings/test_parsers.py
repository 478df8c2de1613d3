"""The notations of codes, severities, targets, versions and launches."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ptxkit.diagnostics import Severity
from ptxkit.settings import parsers
from ptxkit.settings.model import KernelLaunch


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (parsers.parse_code_prefix, "PTX401", "PTX401"),
        (parsers.parse_code_prefix, "ptx4", "PTX4"),
        (parsers.parse_code_prefix, "PTX", "PTX"),
        (parsers.parse_code_prefix, "missing-proxy-fence", "PTX401"),
        (parsers.parse_ignored_prefix, "PTX1", "PTX1"),
        (parsers.parse_severity, "note", Severity.NOTE),
        (parsers.parse_code_severity, "PTX4 = warning", ("PTX4", Severity.WARNING)),
        (parsers.parse_target_name, "sm_90a", "sm_90a"),
        (parsers.parse_version, "8.7", (8, 7)),
        (parsers.parse_effort, "low", 0.25),
        (parsers.parse_effort, "high", 4.0),
        (parsers.parse_effort, "2.5", 2.5),
        (
            parsers.parse_launch,
            "k:block=128,cluster=2",
            KernelLaunch("k", (128, 1, 1), (2, 1, 1), "k:block=128,cluster=2"),
        ),
        (parsers.parse_launch, "block=16x8", KernelLaunch(None, (16, 8, 1), None, "block=16x8")),
        (parsers.parse_launch, "a*:cluster=2x2x2", KernelLaunch("a*", None, (2, 2, 2), "a*:cluster=2x2x2")),
    ],
)
def test_a_word_has_its_value(read: Callable[[str], object], text: str, value: object) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (parsers.parse_code_prefix, "PTX41", "there is no code `PTX41`; did you mean `PTX401`?"),
        (parsers.parse_code_prefix, "E501", "there is no code `E501`; did you mean `PTX501`?"),
        (parsers.parse_code_prefix, "missing-proxy-fense", "did you mean `missing-proxy-fence`?"),
        (parsers.parse_code_prefix, "", "there is no code ``; `ptxkit explain` lists them"),
        (parsers.parse_ignored_prefix, "PTX101", "PTX101 cannot be ignored"),
        (parsers.parse_severity, "warn", "`warn` is not a severity; did you mean `warning`?"),
        (parsers.parse_code_severity, "PTX4", "`PTX4` is not of the form CODE=LEVEL; write `PTX706=note`"),
        (parsers.parse_code_severity, "PTX101=note", "PTX101 is always an error"),
        (parsers.parse_target_name, "sm_91", "there is no target `sm_91`; did you mean `sm_"),
        (parsers.parse_target_name, "compute_90", "did you mean `sm_90`?"),
        (parsers.parse_version, "8.9", "there is no PTX version `8.9`"),
        (parsers.parse_version, "nine", "there is no PTX version `nine`"),
        (
            parsers.parse_effort,
            "0.001",
            "`0.001` is not an effort; write `low`, `normal`, `high`, or a factor such as `2`",
        ),
        (parsers.parse_effort, "-1", "`-1` is not an effort"),
        (parsers.parse_effort, "nan", "`nan` is not an effort"),
        (parsers.parse_launch, "k:bloc=128", "a launch has no key `bloc`; did you mean `block`?"),
        (parsers.parse_launch, "k:grid=128", "a launch has no key `grid`; valid ones are `block`, `cluster`"),
        (parsers.parse_launch, "k:128", "`128` is not a part of a launch; write `block=128` or `cluster=2`"),
        (parsers.parse_launch, ":block=128", "has no kernel before the colon"),
        (parsers.parse_launch, "k:block=128,block=64", "has `block` twice"),
        (parsers.parse_launch, "k:block=0", "`0` is not a shape; write `block=128` or `block=16x8`"),
        (parsers.parse_launch, "k:block=1x2x3x4", "`1x2x3x4` is not a shape"),
        (parsers.parse_launch, "k:block=1025", "a block has at most 1,024 threads"),
        (parsers.parse_launch, "k:cluster=17", "a cluster has at most 16 CTAs"),
    ],
)
def test_an_invalid_word_has_a_reason_and_a_suggestion(read: Callable[[str], object], text: str, message: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011 (the message is checked below)
        read(text)
    assert message in str(raised.value)
