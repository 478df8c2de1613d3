"""The protocol as pygls implements it, except for the texts, which `documents` stores.

pygls would store them, too, and recognizes line ends that the protocol does not have (form feeds, U+2028).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method


def _forward_to_server(method: str) -> Callable[..., Iterator[Any]]:
    """Returns a handler that only calls the server's own."""

    @lsp_method(method)
    def handler(self: LanguageServerProtocol, params: object) -> Iterator[Any]:
        own = self.fm.features.get(method)
        if own is not None:
            yield own, (params,), None

    return handler


class TextlessProtocol(LanguageServerProtocol):
    """The protocol without a copy of the texts, and with a response to every request, even a malformed one."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Converts a part of a message to an object. Raises JsonRpcException."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise

    lsp_text_document__did_open = _forward_to_server(types.TEXT_DOCUMENT_DID_OPEN)
    lsp_text_document__did_change = _forward_to_server(types.TEXT_DOCUMENT_DID_CHANGE)
    lsp_text_document__did_close = _forward_to_server(types.TEXT_DOCUMENT_DID_CLOSE)
