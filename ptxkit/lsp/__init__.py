"""`ptxkit lsp`: a language server for PTX.

The server's process keeps the texts (`documents`), parses them even if they have errors (`tolerant_parse`), and
responds to requests that need no analysis: hover, definitions, completion, symbols, formatting. Checking a text can
take long, so a second process executes it (`worker`, `worker_client`), which is ended if the text has changed in the
meantime (`check_scheduler`).

Only this package imports pygls and lsprotocol, and only when the server is started: `worker` needs neither.
"""

from __future__ import annotations
