"""What `ptxkit lint` was asked for, in addition to the settings of files."""

from __future__ import annotations

from ptxkit.cli.limits import DEFAULT_CHECK_SECONDS
from ptxkit.fast_dataclasses import dataclass
from ptxkit.settings.model import ConfigLayer

COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True)
class LintOptions:
    """level: what the command line says of the settings. config: the settings file to use instead of the nearest ones.

    isolated: no settings file counts. stdin_name: what standard input is called, also to find its settings.
    binaries: folders stand for libraries and the like, too. fixes: what to do with fixes: `write` them, `diff`, `show`.

    jobs: processes that check; None: as many as there is use for. timeout: seconds of processor time for one text.
    cluster: the address of one that checks instead. is_cached: results of earlier runs are used and kept, in
    cache_folder or the user's own.
    """

    form: str = "full"
    level: ConfigLayer = ConfigLayer(COMMAND_LINE)
    config: str | None = None
    isolated: bool = False
    show_undecided: bool = False
    statistics: bool = False
    write_baseline: bool = False
    add_ignores: str | None = None
    stdin_name: str | None = None
    binaries: bool = False
    fixes: str | None = None
    unsafe_fixes: bool = False
    jobs: int | None = None
    timeout: float = DEFAULT_CHECK_SECONDS
    cluster: str | None = None
    is_cached: bool = True
    cache_folder: str | None = None


DEFAULT = LintOptions()
