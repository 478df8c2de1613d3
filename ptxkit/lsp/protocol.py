"""The protocol as pygls implements it, except for the texts, which are kept by `documents`.

pygls would keep them too, and take for line ends what the protocol does not (form feeds, U+2028).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method


def _forward_to_server(method: str) -> Callable[..., Iterator[Any]]:
    """A handler that does nothing but call the server's own."""

    @lsp_method(method)
    def handler(self: LanguageServerProtocol, params: object) -> Iterator[Any]:
        own = self.fm.features.get(method)
        if own is not None:
            yield own, (params,), None

    return handler


class TextlessProtocol(LanguageServerProtocol):
    """Without a copy of the texts, and with an answer to every request, even a malformed one."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A part of a message as an object. Raises JsonRpcException."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise

    lsp_text_document__did_open = _forward_to_server(types.TEXT_DOCUMENT_DID_OPEN)
    lsp_text_document__did_change = _forward_to_server(types.TEXT_DOCUMENT_DID_CHANGE)
    lsp_text_document__did_close = _forward_to_server(types.TEXT_DOCUMENT_DID_CLOSE)
