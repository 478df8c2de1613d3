"""Oracles that hang, wait, exit and fail where their examples request it.

An oracle that hangs reduces the limit of its processor time, so that the limit of the others can be generous.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from ptxkit.processes.child_process import limit_processor_time
from ptxkit.testing.corpus.examples import Example
from ptxkit.testing.fuzz.campaign_kinds import FuzzCampaign, OracleKind

EVERY = 10


def make(campaign: FuzzCampaign, number: int) -> Example:
    """Number 3 of ten hangs, 5 exits, 7 and 8 fail for one cause."""
    word = {3: "hang", 5: "die", 7: "fail", 8: "fail"}.get(number % EVERY, "hold")
    text = "".join(f"// line {line}\n" for line in range(20)) + f"// {word}\n// number {number}\n"
    return Example("tests.testing.fuzz.planted:judge", (text,))


def judge(text: str) -> None:
    if "// hang" in text:
        limit_processor_time(0.05)
        turn_for_ever(text)
    if "// wait" in text:
        stuck_in_the_oracle()
    if "// die" in text:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "// fail" in text:
        raise AssertionError(f"it fails with {len(text)} characters\n{text}")


def stuck_in_the_oracle() -> None:
    time.sleep(600)


rounds = 0
"""How often `turn_for_ever` has turned in this process."""


def turn_for_ever(text: str) -> None:
    global rounds  # noqa: PLW0603 (a test in this process looks whether it has begun)
    while True:
        rounds += 1


WAITS_AT, WAITS = "PTXKIT_TEST_WAITS_AT", "PTXKIT_TEST_WAITS"
"""The variables for the number of the first example at which `SINGLE` waits endlessly, and for the file that it writes
before.
"""


def make_single(campaign: FuzzCampaign, number: int) -> Example:
    return Example("tests.testing.fuzz.planted:wait_at_its_number", (f"// {number}\n",))


def wait_at_its_number(text: str) -> None:
    if WAITS_AT in os.environ and int(text[3:]) >= int(os.environ[WAITS_AT]):
        Path(os.environ[WAITS]).touch()
        stuck_in_the_oracle()


KIND = OracleKind("planted", make, examples_per_unit=5)
SINGLE = OracleKind("single", make_single, examples_per_unit=1)
