"""The reasons for which a litmus test has no verdict."""

from __future__ import annotations

from ptxkit.refusal import RefusedError


class LitmusError(RefusedError):
    """A test that cannot be read, or uses what the model does not cover. The remedy states what to write instead."""


class TooManyExecutionsError(LitmusError):
    """A test with more executions than the limits allow."""
