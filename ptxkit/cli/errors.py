"""What commands answer to words that mean nothing."""

from __future__ import annotations

import click

from ptxkit.results import ExitStatus


class UnknownNameError(click.ClickException):
    """The user named something that there is none of; the message suggests what was meant."""

    exit_code = int(ExitStatus.COULD_NOT_RUN)
