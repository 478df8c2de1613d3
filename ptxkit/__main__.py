"""`python -m ptxkit`: the command line."""

from __future__ import annotations

from ptxkit.cli.main import main

main()
