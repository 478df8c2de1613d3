"""A browser for all tests of pages: one Chromium, in which each page has a separate profile."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from ptxkit.fast_dataclasses import dataclass

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 2000
"""Milliseconds of the page's own virtual clock, for the deferred work of its script."""

_BEGIN = """
import fcntl, os, sys
reads, writes = (fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3])
os.dup2(reads, 3)
os.dup2(writes, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Chromium communicates over its file descriptors 3 and 4, whatever their numbers are here."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A page after its script ran.

    document: as HTML; logged: the messages on its console; picture: a PNG, if requested.
    """

    document: str
    logged: tuple[str, ...]
    picture: bytes


class Browser:
    """One process that implements the DevTools protocol: messages in JSON, each with a zero after it."""

    def __init__(self, folder: Path) -> None:
        assert BROWSER is not None
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--allow-file-access")
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", _BEGIN, str(theirs_in), str(theirs_out)),
                *(BROWSER, *options, f"--user-data-dir={folder / 'profile'}"),
            ],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(folder)},
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._in, self._out = os.fdopen(ours_in, "rb", 0), os.fdopen(ours_out, "wb", 0)
        self._rest = b""
        self._last = 0
        self._events: list[dict[str, Any]] = []

    def render(
        self, url: str, *, size: tuple[int, int] = (800, 600), scheme: str = "light", is_pictured: bool = False
    ) -> Shown:
        """Opens a page in a window of a size in pixels, with the color scheme `light` or `dark`."""
        context = self._ask("Target.createBrowserContext")["browserContextId"]
        width, height = size
        place = {"browserContextId": context, "width": width, "height": height}
        target = self._ask("Target.createTarget", url="about:blank", **place)["targetId"]
        session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        try:
            self._go(session, url, scheme)
            found = self._ask("Runtime.evaluate", session, expression="document.documentElement.outerHTML")
            picture = self._ask("Page.captureScreenshot", session)["data"] if is_pictured else ""
            logged = tuple(filter(None, (_report(each) for each in self._events if each.get("sessionId") == session)))
            return Shown(found["result"]["value"], logged, base64.b64decode(picture))
        finally:
            self._ask("Target.disposeBrowserContext", browserContextId=context)
            self._events.clear()

    def _go(self, session: str, url: str, scheme: str) -> None:
        """Opens the page, and waits until its script has no deferred work."""
        for domain in ("Page", "Runtime", "Log"):
            self._ask(f"{domain}.enable", session)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._ask("Emulation.setEmulatedMedia", session, features=features)
        self._ask("Page.navigate", session, url=url)
        self._until("Page.loadEventFired", session)
        self._ask("Emulation.setVirtualTimePolicy", session, policy="pauseIfNetworkFetchesPending", budget=PATIENCE)
        self._until("Emulation.virtualTimeBudgetExpired", session)
        self._ask("Emulation.setVirtualTimePolicy", session, policy="advance")

    def _ask(self, method: str, session: str = "", **parameters: object) -> dict[str, Any]:
        self._last += 1
        message: dict[str, object] = {"id": self._last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._out.write(json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self._last:
            self._events.append(answer)
        assert "error" not in answer, f"{method}: {answer['error']}"
        found: dict[str, Any] = answer["result"]
        return found

    def _until(self, method: str, session: str) -> None:
        def is_it(event: dict[str, Any]) -> bool:
            return event.get("method") == method and event.get("sessionId") == session

        while not any(map(is_it, self._events)):
            self._events.append(self._read())

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = self._in.read(1 << 20)
            assert more, "the browser has gone"
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._in.close()
        self._out.close()


def _report(event: dict[str, Any]) -> str:
    """Returns the text that an event adds to the console, or an empty one."""
    given = event.get("params", {})
    match event.get("method"):
        case "Runtime.consoleAPICalled":
            return " ".join(str(each.get("value", each.get("description", ""))) for each in given["args"])
        case "Runtime.exceptionThrown":
            return str(given["exceptionDetails"])
        case "Log.entryAdded":
            return str(given["entry"]["text"])
    return ""
