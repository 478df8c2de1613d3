"""Oracles that hang, die and fail where their examples say so."""

from __future__ import annotations

import os
import signal
import time

from ptxkit.testing.corpus.examples import Example
from ptxkit.testing.fuzz.campaign_kinds import FuzzCampaign, OracleKind

EVERY = 10


def make(campaign: FuzzCampaign, number: int) -> Example:
    """Number 3 of ten hangs, 5 dies, 7 and 8 fail for one cause."""
    word = {3: "hang", 5: "die", 7: "fail", 8: "fail"}.get(number % EVERY, "hold")
    text = "".join(f"// line {line}\n" for line in range(20)) + f"// {word}\n// number {number}\n"
    return Example("tests.testing.fuzz.planted:judge", (text,))


def judge(text: str) -> None:
    if "// hang" in text:
        stuck_in_the_oracle()
    if "// die" in text:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "// fail" in text:
        raise AssertionError(f"it fails with {len(text)} characters\n{text}")


def stuck_in_the_oracle() -> None:
    time.sleep(600)


def turn_for_ever(text: str) -> None:
    while True:
        pass


def make_slowly(campaign: FuzzCampaign, number: int) -> Example:
    """Half a second each."""
    return Example("tests.testing.fuzz.planted:wait", (f"// {number}\n",))


def wait(text: str) -> None:
    time.sleep(0.2)


KIND = OracleKind("planted", make, examples_per_unit=5)
SLOW = OracleKind("slow", make_slowly, examples_per_unit=1)
