"""The settings of each input: those of the nearest settings file, overridden by the command line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ptxkit.cli.input_files import STDIN
from ptxkit.cli.lint_options import COMMAND_LINE, LintOptions
from ptxkit.mangled_names import distinct_short_names, short_name
from ptxkit.settings.errors import SettingsError, nearest_hint
from ptxkit.settings.files import SettingsFiles, read_level
from ptxkit.settings.model import DEFAULT, ConfigLayer, Settings
from ptxkit.small_files import is_inside

if TYPE_CHECKING:
    from ptxkit.baseline import Baseline, KnownFindings
    from ptxkit.results import FileResult
    from ptxkit.source import SourceFile


class InputSettings:
    """The settings of one run. Settings files and baselines are read once, when an input first needs them."""

    def __init__(self, options: LintOptions) -> None:
        self.options = options
        self._files = SettingsFiles()
        self._baselines: dict[str, Baseline] = {}
        self._config_layer: ConfigLayer | None = None
        self._unmatched_launches = {
            each.kernel for each in options.level.launch if each.kernel and not set(each.kernel) & set("*?[")
        }
        self._kernels: set[str] = set()

    def layers_for(self, path: str) -> list[ConfigLayer]:
        """The settings layers that apply to an input; the command line is last. Raises SettingsError."""
        name = path if path != STDIN else self.options.stdin_name or ""
        level = None
        if self.options.config is not None:
            if self._config_layer is None:
                self._config_layer = read_level(self.options.config)
            level = self._config_layer
        elif not self.options.isolated:
            level = self._files.find_level(os.path.dirname(name))
        return [each for each in (level, self.options.level) if each is not None]

    def settings_for(self, path: str, name: str | None = None) -> Settings:
        """The effective settings of an input. name: of a text inside it, which file patterns may match as well. Raises
        SettingsError."""
        levels = self.layers_for(path)
        if levels == [ConfigLayer(COMMAND_LINE)]:
            return DEFAULT
        if path == STDIN:
            path, name = self.options.stdin_name or "", None
        return Settings.of(levels, *dict.fromkeys(filter(None, (path, name))))

    def remove_known(self, result: FileResult, settings: Settings, earlier: KnownFindings | None = None) -> FileResult:
        """Removes the findings of the baseline from a result, and those of an earlier text. Raises SettingsError."""
        if (settings.baseline is None or self.options.write_baseline) and earlier is None:
            return result
        from ptxkit.baseline import KnownFindings, listed_findings, without_findings

        known = earlier or KnownFindings()
        if settings.baseline is not None:
            if settings.baseline not in self._baselines:
                self._baselines[settings.baseline] = self._read_baseline(settings.baseline)
            known |= listed_findings(result, self._baselines[settings.baseline], settings.baseline)
        return without_findings(result, known)

    def baseline_path(self) -> str:
        """Where to write the baseline, over another baseline or where there is nothing. Raises SettingsError.

        A settings file may come with a folder of another user, so it may name a place inside its own folder only.
        """
        level = next((each for each in reversed(self.layers_for("")) if each.baseline is not None), None)
        if level is None or level.baseline is None:
            what = "`--write-baseline` requires the name of a file"
            raise SettingsError(what, remedy="write `--baseline FILE`, or `baseline` in the settings")
        path = level.baseline
        if level.origin != COMMAND_LINE and not is_inside(path, level.folder):
            what = f"the baseline `{path}` is outside the folder of these settings"
            remedy = f"to write it there, name it: `--baseline {path}`"
            raise SettingsError(what, level.origin, remedy=remedy)
        if os.path.exists(path):
            self._read_baseline(path)
        return path

    def _read_baseline(self, path: str) -> Baseline:
        """Reads the baseline at a path. Raises SettingsError."""
        from ptxkit.baseline import BaselineError, read_baseline

        try:
            return read_baseline(path)
        except BaselineError as error:
            raise SettingsError(error.message, path, remedy=error.remedy) from error

    def note_kernels(self, source: SourceFile) -> None:
        """Records the kernels of an input if launches name kernels."""
        if self._unmatched_launches:
            import re

            kernels = set(re.findall(r"\.entry[ \t\r\n]+([\w$]+)", source.text))
            self._kernels |= kernels
            self._unmatched_launches -= kernels | set(map(short_name, kernels))

    def check_launches(self) -> None:
        """Raises SettingsError if a launch of the command line names a kernel that no input has."""
        for kernel in sorted(filter(None, self._unmatched_launches)):
            known = distinct_short_names(sorted(self._kernels))
            remedy = nearest_hint(kernel, known) if known else "name a kernel of the inputs"
            raise SettingsError(f"`--launch`: no input has a kernel `{kernel}`", remedy=remedy)
