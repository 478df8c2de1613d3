"""Errors in the command line."""

from __future__ import annotations

import click

from ptxkit.results import ExitStatus


class UnknownNameError(click.ClickException):
    """The command line contains an unknown name; the message suggests a similar one."""

    exit_code = int(ExitStatus.COULD_NOT_RUN)
