"""Limits of one call of `ptxkit-ptxas`: a build must not wait long for it."""

from __future__ import annotations

DEFAULT_CHECK_SECONDS = 10.0
"""The seconds of processor time for one input, unless the environment sets them."""

MAX_CHECK_SECONDS = 24 * 3600.0
"""The largest number of seconds that the environment may set."""

MAX_OPTION_FILES = 16
"""The number of files of options that are read, because such a file may name itself."""
