"""`ptxkit lsp`: what editors request while PTX is written, over the language server protocol.

The server's process keeps the texts (`documents`), reads them even where they are broken (`reading`), and answers what
needs no analysis: hover, definitions, completion, symbols, formatting. Checking a text takes long at times, so that it
is done by a second process (`worker`, `analyst`) that is ended when the text has changed meanwhile (`checking`).

Only this room imports pygls and lsprotocol, and only when the server is started: `worker` needs neither.
"""

from __future__ import annotations
