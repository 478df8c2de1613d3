"""Chromium without a window, controlled by the DevTools protocol through pipes, and a server for a folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


def find_browser() -> str | None:
    """Chromium or Chrome, if it is installed."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class BrowserError(Exception):
    """The browser ended, or a script in it failed."""


class BrowserPage:
    """One page of a browser. Scripts in it are expressions, or promises, of values that JSON has."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._output = os.fdopen(to_browser, "wb", buffering=0)
        self._input = os.fdopen(from_browser, "rb")
        self._last = 0
        self._session: str | None = None
        self.messages: list[str] = []  # what the page wrote to the console, and errors that nothing caught
        self._session = self._attach()
        for name in ("Page.enable", "Runtime.enable", "Log.enable"):
            self.send(name)

    def _attach(self) -> str:
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        return str(self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])

    def send(self, method: str, **parameters: object) -> Any:
        """Calls a method of the protocol, and returns its result. Raises BrowserError."""
        self._last += 1
        message: dict[str, object] = {"id": self._last, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._output.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def evaluate(self, script: str) -> Any:
        """Returns the value of a script in the page. Raises BrowserError."""
        found = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise BrowserError(str(found["exceptionDetails"].get("exception", found["exceptionDetails"])))
        return found["result"].get("value")

    def wait_for(self, script: str, seconds: float = 60.0) -> Any:
        """Returns the value of a script as soon as it is true. Raises BrowserError after that time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.evaluate(script)
            if value:
                return value
            time.sleep(0.05)
        raise BrowserError(f"`{script}` is never true; the console: {self.messages}")

    def _receive(self) -> dict[str, Any]:
        parts = bytearray()
        while (byte := self._input.read(1)) != b"\0":
            if not byte:
                raise BrowserError("the browser ended")
            parts += byte
        message: dict[str, Any] = json.loads(parts)
        if message.get("method") in {"Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"}:
            self.messages.append(json.dumps(message["params"]))
        return message


@contextmanager
def open_page(browser: str) -> Iterator[BrowserPage]:
    """Starts a browser with a fresh profile, and ends it afterwards."""
    command = (
        browser,
        "--headless=new",
        "--no-sandbox",  # containers have none; the page is our own
        "--disable-gpu",
        "--no-first-run",
        "--remote-debugging-pipe",
    )
    read_here, write_there = os.pipe()
    read_there, write_here = os.pipe()
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as profile:
        script = f'exec "$0" "$@" --user-data-dir={profile} 3<&{read_there} 4>&{write_there}'
        process = subprocess.Popen(
            ["bash", "-c", script, *command],
            pass_fds=(read_there, write_there),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_there)
        os.close(write_there)
        try:
            page = BrowserPage(write_here, read_here)
            yield page
            with suppress(BrowserError, OSError):
                page.send("Browser.close")
        finally:
            process.terminate()
            process.wait()


class _QuietHandler(SimpleHTTPRequestHandler):
    """Serves files, and writes no log."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Discard a line of the log."""


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serves a folder to this machine, and gives its address, which ends in a slash."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_QuietHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
