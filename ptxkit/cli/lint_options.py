"""The options of `ptxkit lint` other than settings."""

from __future__ import annotations

from ptxkit.cli.limits import DEFAULT_CHECK_SECONDS
from ptxkit.fast_dataclasses import dataclass
from ptxkit.report.options import DEFAULT_OPTIONS, ReportOptions
from ptxkit.settings.model import ConfigLayer

COMMAND_LINE = "command line"

SERVER_ACTIONS = ("start", "status", "stop")
"""The values of `--server`; the first one is the default."""


@dataclass(frozen=True, slots=True)
class LintOptions:
    """level: the settings of the command line. config: a settings file that replaces the nearest ones. isolated: no
    settings file applies. report: what the report shows. stdin_name: the file name of standard input, also used to find
    its settings. binaries: folders are also searched for containers. fixes: what to do with fixes: `write`, `diff` or
    `show`. obligations: whether all obligations are listed with their verdicts. jobs: the number of processes; None:
    chosen automatically. timeout: processor time for one text, in seconds. cluster: the address of a cluster that
    checks instead. is_cached: results of earlier runs are used and stored, in cache_folder or in the cache folder of
    the user. diff_base: a revision of git whose findings are known.
    """

    form: str = "full"
    level: ConfigLayer = ConfigLayer(COMMAND_LINE)
    config: str | None = None
    isolated: bool = False
    report: ReportOptions = DEFAULT_OPTIONS
    statistics: bool = False
    write_baseline: bool = False
    add_ignores: str | None = None
    stdin_name: str | None = None
    binaries: bool = False
    fixes: str | None = None
    unsafe_fixes: bool = False
    obligations: bool = False
    jobs: int | None = None
    timeout: float = DEFAULT_CHECK_SECONDS
    cluster: str | None = None
    is_cached: bool = True
    cache_folder: str | None = None
    diff_base: str | None = None


DEFAULT = LintOptions()
