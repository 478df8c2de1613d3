"""`ptxkit lint --show-settings`: the effective settings of each path."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ptxkit.cli.input_settings import InputSettings
from ptxkit.cli.lint_options import LintOptions
from ptxkit.cli.refusals import write_error
from ptxkit.exit_status import ExitStatus
from ptxkit.settings.errors import SettingsError
from ptxkit.settings.render import render_settings


def print_settings(paths: Sequence[str], options: LintOptions) -> int:
    """Prints the settings of each path, or of the working directory. Returns the exit status."""
    configured = InputSettings(options)
    try:
        texts = [
            render_settings(path or ".", configured.layers_for(path), configured.settings_for(path))
            for path in paths or [""]
        ]
    except SettingsError as error:
        return write_error(error)
    sys.stdout.write("\n".join(texts))
    return ExitStatus.CLEAN
