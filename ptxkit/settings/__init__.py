"""Settings: the command line's options and the files `ptxkit.toml` and `pyproject.toml`.

`files.SettingsFiles.find_level(folder)` reads the settings file of a folder, and `model.Settings.of(levels)` combines
levels, of which later ones override earlier ones. A module is imported only when it is needed: without a settings file,
lint only needs `model`.
"""

from __future__ import annotations
