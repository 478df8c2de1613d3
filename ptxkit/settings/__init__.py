"""What to look for and how to say it: the command line's options and the files `ptxkit.toml` and `pyproject.toml`.

`nearest(folder)` reads the settings file that counts for a folder, `Settings.of(levels)` joins what several levels say,
later ones over earlier ones. Loading is left to the modules themselves: without a settings file a lint needs only
`model`.
"""

from __future__ import annotations
