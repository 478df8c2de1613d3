"""Functions that children run in the tests."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

from ptxkit.processes.child_process import ParentChannel, limit_memory, limit_processor_time


def echo(channel: ParentChannel, prefix: str) -> None:
    while True:
        channel.send((prefix, channel.receive()))


def add_up(channel: ParentChannel) -> None:
    """Requests numbers from its parent until none exist."""
    total = 0
    while (number := channel.receive()) is not None:
        total += number
        channel.send("more")
    channel.send(total)


def misbehave(channel: ParentChannel, how: str) -> None:
    print("something", flush=True)  # noqa: T201
    sys.stderr.write("the last words\n")
    sys.stderr.flush()
    if how == "crashes":
        ctypes.string_at(0)
    if how == "exits":
        os._exit(3)
    if how in {"sleeps", "turns"}:
        channel.send("ready")
    if how == "sleeps":
        sleep_without_end()
    if how == "turns":
        turn_without_end()
    if how == "is limited":
        limit_processor_time(0.3)
        turn_without_end()
    if how == "needs memory":
        limit_memory(1 << 30)
        channel.send(len(bytes(2 << 30)))


def sleep_without_end() -> None:
    time.sleep(600)


def turn_without_end() -> None:
    while True:
        pass


def start_child(channel: ParentChannel, path: str) -> None:
    """Starts a child process, writes its number to a file, and sleeps."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(path).write_text(str(child.pid))
    channel.send("started")
    sleep_without_end()
