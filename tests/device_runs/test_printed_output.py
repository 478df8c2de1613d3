"""The text that the C library writes to standard output."""

from __future__ import annotations

import ctypes

import pytest

from ptxkit.device_runs.printed_output import captured_output


def test_the_text_so_far_is_returned_and_the_rest_is_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    library = ctypes.CDLL(None)
    with captured_output() as printed:
        library.printf(b"one\n")
        assert printed() == "one\n"
        library.printf(b"two %d\n", 2)
        assert printed() == "one\ntwo 2\n"
    library.printf(b"three\n")
    library.fflush(None)
    assert capfd.readouterr().out == "three\n"
