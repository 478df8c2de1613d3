"""`ptxkit lint --show-settings`: what counts for each path."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ptxkit.cli.configured import Configured
from ptxkit.cli.options import Options
from ptxkit.results import ExitStatus
from ptxkit.settings.mistakes import SettingsError
from ptxkit.settings.show import shown


def show(paths: Sequence[str], options: Options) -> int:
    """Print the settings of each path, or of the working directory; the exit status."""
    configured = Configured(options)
    try:
        texts = [
            shown(path or ".", configured.levels_for(path), configured.settings_for(path)) for path in paths or [""]
        ]
    except SettingsError as error:
        sys.stderr.write(f"ptxkit: {error}\n")
        return ExitStatus.COULD_NOT_RUN
    sys.stdout.write("\n".join(texts))
    return ExitStatus.CLEAN
