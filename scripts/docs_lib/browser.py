"""Chromium without a window, controlled by the DevTools protocol through pipes, and a server for a folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
from base64 import b64decode
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
    """One page of a browser. Scripts in it are expressions, or promises, of values that JSON has.

    What is waited for is awaited in the browser, as long as it takes: nothing here depends on the speed of the machine.
    """

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._output = os.fdopen(to_browser, "wb", buffering=0)
        self._input = os.fdopen(from_browser, "rb")
        self._last = 0
        self._session: str | None = None
        self._frames: list[str] = []  # the sessions of the frames that have separate processes
        self._loaded: set[str] = set()  # the identifiers of the loads that have ended
        self.messages: list[str] = []  # what the page wrote to the console, and errors that nothing caught
        self._session = self._attach()
        for name in ("Page.enable", "Runtime.enable", "Log.enable"):
            self.send(name)
        self.send("Page.setLifecycleEventsEnabled", enabled=True)
        self.send("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)

    def _attach(self) -> str:
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        return str(self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])

    def send(self, method: str, **parameters: object) -> Any:
        """Calls a method of the protocol, and returns its result. Raises BrowserError."""
        return self._call(self._session, method, parameters)

    def open(self, address: str) -> None:
        """Shows another document, and returns when it is loaded. Raises BrowserError."""
        opened = self.send("Page.navigate", url=address)
        if "errorText" in opened:
            raise BrowserError(f"{address}: {opened['errorText']}")
        while opened["loaderId"] not in self._loaded:
            self._receive()

    def evaluate(self, script: str) -> Any:
        """Returns the value of a script in the page. Raises BrowserError."""
        return self._evaluate(self._session, script)

    def evaluate_in_frame(self, script: str) -> Any:
        """Returns the value of a script in the newest frame with a separate process, as frames have in a sandbox.

        The frame must be loaded; what it wrote to the console is then in `messages`. Raises BrowserError.
        """
        if not self._frames:
            raise BrowserError("no frame of the page has a separate process")
        session = self._frames[-1]
        for name in ("Runtime.enable", "Log.enable"):
            self._call(session, name, {})
        return self._evaluate(session, script)

    def take_picture(self, width: int, height: int) -> bytes:
        """Returns the top of the page in the light theme as PNG, by its size in pixels."""
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
        return b64decode(self.send("Page.captureScreenshot", format="png")["data"])

    def wait_for(self, script: str) -> Any:
        """Returns the value of a script in the page as soon as it is true. Raises BrowserError."""
        look = f"let value; while (!(value = {script})) await new Promise(requestAnimationFrame); return value;"
        return self.evaluate(f"(async () => {{ {look} }})()")

    def _call(self, session: str | None, method: str, parameters: dict[str, object]) -> Any:
        self._last += 1
        message: dict[str, object] = {"id": self._last, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        self._output.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _evaluate(self, session: str | None, script: str) -> Any:
        parameters: dict[str, object] = {"expression": script, "awaitPromise": True, "returnByValue": True}
        found = self._call(session, "Runtime.evaluate", parameters)
        if "exceptionDetails" in found:
            raise BrowserError(str(found["exceptionDetails"].get("exception", found["exceptionDetails"])))
        return found["result"].get("value")

    def _receive(self) -> dict[str, Any]:
        parts = bytearray()
        while (byte := self._input.read(1)) != b"\0":
            if not byte:
                raise BrowserError("the browser ended")
            parts += byte
        message: dict[str, Any] = json.loads(parts)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, event: str | None, parameters: dict[str, Any]) -> None:
        if event in {"Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"}:
            self.messages.append(json.dumps(parameters))
        elif event == "Target.attachedToTarget" and parameters["targetInfo"]["type"] == "iframe":
            self._frames.append(parameters["sessionId"])
        elif event == "Target.detachedFromTarget" and parameters["sessionId"] in self._frames:
            self._frames.remove(parameters["sessionId"])
        elif event == "Page.lifecycleEvent" and parameters["name"] == "load":
            self._loaded.add(parameters["loaderId"])


@contextmanager
def open_page(browser: str) -> Iterator[BrowserPage]:
    """Starts a browser with a fresh profile, and ends it afterwards."""
    command = (
        browser,
        "--headless=new",
        "--no-sandbox",  # containers have none; the page is our own
        "--disable-gpu",
        "--no-first-run",
        "--hide-scrollbars",
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
