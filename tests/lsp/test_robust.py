"""The server survives invalid input, and exits when requested."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ptxkit.lsp import worker_client
from ptxkit.lsp.worker_client import WorkerClient, WorkerError
from ptxkit.lsp.worker_messages import AnalysisRequest
from ptxkit.results import FileResult
from ptxkit.settings.model import DEFAULT
from tests.cli.support import shell
from tests.lsp.session import KERNEL


class Pipe:
    """A server's process, with raw messages. `notifications`: the notifications that arrived before a response."""

    def __init__(self, *command: str) -> None:
        command = (sys.executable, *(command or ("-m", "ptxkit", "lsp", "--stdio")))
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.notifications: list[dict[str, Any]] = []
        self._last = 0

    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def notify(self, method: str, params: object = None) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def ask(self, method: str, params: object = None) -> dict[str, Any]:
        """Returns the whole response: with a `result` or an `error`."""
        self._last += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}).encode())
        while (message := self.read()).get("id") != self._last or "method" in message:
            self.notifications.append(message)
        return message

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline()) != b"\r\n":
            assert line, "the server has gone"
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        found: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return found

    def until(self, method: str) -> dict[str, Any]:
        """Returns the next notification of a method."""
        while True:
            message = self.notifications.pop(0) if self.notifications else self.read()
            if message.get("method") == method:
                return message

    def initialize(self, **capabilities: object) -> dict[str, Any]:
        given = {"processId": None, "rootUri": None, "capabilities": capabilities}
        return self.ask("initialize", given)

    def end(self) -> int:
        """Returns the status after `exit`."""
        self.notify("exit")
        return self.wait_for_exit()

    def wait_for_exit(self) -> int:
        _, printed = self.process.communicate(timeout=900)
        assert printed == b"", printed.decode()
        return self.process.returncode


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    made = Pipe()
    yield made
    made.process.kill()
    made.process.communicate()


def open_document(uri: str, text: str) -> dict[str, object]:
    return {"textDocument": {"uri": uri, "languageId": "ptx", "version": 1, "text": text}}


def at(uri: str, line: int, character: int) -> dict[str, object]:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


def test_invalid_messages_are_rejected_or_logged_and_the_server_continues(pipe: Pipe) -> None:
    capabilities = pipe.initialize()["result"]["capabilities"]
    assert capabilities["positionEncoding"] == "utf-16"
    assert capabilities["textDocumentSync"]["change"] == 2
    pipe.send(b"{nonsense")
    assert "JSONDecodeError" in pipe.until("window/logMessage")["params"]["message"]
    pipe.send(b"[1, 2]")
    assert "Traceback" in pipe.until("window/logMessage")["params"]["message"]
    assert pipe.ask("textDocument/hover", {"x": 1})["error"]["code"] == -32602
    assert pipe.ask("no/such", {})["error"]["code"] == -32601
    pipe.notify("no/such", {})
    pipe.notify("textDocument/didOpen", {"x": 1})
    pipe.notify("$/cancelRequest", {"id": 99})
    for method in ("hover", "definition", "completion", "documentSymbol", "formatting"):
        params = {**at("file:///not/open.ptx", 3, 4), "options": {"tabSize": 8, "insertSpaces": False}}
        assert pipe.ask(f"textDocument/{method}", params)["result"] is None
    pipe.notify("textDocument/didClose", {"textDocument": {"uri": "file:///not/open.ptx"}})
    change = {"textDocument": {"uri": "file:///not/open.ptx", "version": 2}, "contentChanges": [{"text": "x"}]}
    pipe.notify("textDocument/didChange", change)
    pipe.notify("textDocument/didOpen", open_document("untitled:a", KERNEL))
    assert pipe.ask("textDocument/hover", at("untitled:a", 5, 1))["result"]["contents"]["kind"] == "markdown"
    assert pipe.ask("textDocument/hover", at("untitled:a", 999, 999))["result"] is None
    assert pipe.ask("shutdown")["result"] is None
    assert pipe.end() == 0


def test_a_text_that_is_hardly_one_is_read(pipe: Pipe) -> None:
    """Without a response this would hang."""
    pipe.initialize()
    for text in ("", "\n", "\r\n\r\n", "{", "\x00", "}" * 50, "// ptx", ".version 8.0", "😀" * 9, "\ud83d"):
        pipe.notify("textDocument/didOpen", open_document("untitled:a", text))
        assert pipe.until("textDocument/publishDiagnostics")["params"]["uri"] == "untitled:a"
        for method in ("hover", "definition", "completion"):
            assert "error" not in pipe.ask(f"textDocument/{method}", at("untitled:a", 0, 1))
        assert pipe.ask("textDocument/documentSymbol", {"textDocument": {"uri": "untitled:a"}})["result"] == []
        pipe.notify("textDocument/didClose", {"textDocument": {"uri": "untitled:a"}})
    assert pipe.ask("shutdown")["result"] is None
    assert pipe.end() == 0


def test_a_client_without_markdown_support_gets_all_of_it_as_text(pipe: Pipe) -> None:
    pipe.initialize(textDocument={"hover": {"contentFormat": ["plaintext"]}})
    pipe.notify("textDocument/didOpen", open_document("untitled:a", KERNEL))
    found: list[dict[str, Any]] = []
    while not found:
        found = pipe.until("textDocument/publishDiagnostics")["params"]["diagnostics"]
    assert "relatedInformation" not in found[0]
    assert "line 20: generic write" in found[0]["message"]
    hover = pipe.ask("textDocument/hover", at("untitled:a", 15, 1))["result"]["contents"]
    assert hover["kind"] == "plaintext"
    assert "**" not in hover["value"]
    assert "```" not in hover["value"]


def test_an_internal_error_is_logged_and_the_server_continues() -> None:
    script = (
        "import ptxkit.lsp.check_scheduler as checking, ptxkit.lsp.server as server\n"
        "from ptxkit.cli.main import main\n"
        "def broken(*_, **__): raise KeyError('inside')\n"
        "server.hover_at = checking.without_analysis_rules = broken\n"
        "main(['lsp'])"
    )
    pipe = Pipe("-c", script)
    pipe.initialize()
    pipe.notify("textDocument/didOpen", open_document("untitled:a", KERNEL))
    assert "untitled:a was not checked: KeyError('inside')" in pipe.until("window/logMessage")["params"]["message"]
    assert pipe.ask("textDocument/hover", at("untitled:a", 5, 1))["error"]["code"] == -32603
    assert "KeyError: 'inside'" in pipe.until("window/logMessage")["params"]["message"]
    assert len(pipe.ask("textDocument/documentSymbol", {"textDocument": {"uri": "untitled:a"}})["result"]) == 1
    assert pipe.ask("shutdown")["result"] is None
    assert pipe.end() == 0


def test_a_text_is_analyzed_while_another_is_checked() -> None:
    """The check of one waits in its thread until a request for the other has a response."""
    script = (
        "import threading\n"
        "import ptxkit.lsp.check_scheduler as checking, ptxkit.lsp.server as server\n"
        "from ptxkit.cli.main import main\n"
        "answered, check, hover = threading.Event(), checking.lint_source, server.hover_at\n"
        "def check_late(source, settings):\n"
        "    assert source.path != 'untitled:checked' or answered.wait(900)\n"
        "    return check(source, settings)\n"
        "def hover_and_tell(*given, **more):\n"
        "    answered.set()\n"
        "    return hover(*given, **more)\n"
        "checking.lint_source, server.hover_at = check_late, hover_and_tell\n"
        "main(['lsp'])"
    )
    pipe = Pipe("-c", script)
    pipe.initialize()
    for name in ("checked", "asked"):
        pipe.notify("textDocument/didOpen", open_document(f"untitled:{name}", KERNEL))
    assert pipe.ask("textDocument/hover", at("untitled:asked", 5, 1))["result"]["contents"]["value"]
    while pipe.until("textDocument/publishDiagnostics")["params"]["uri"] != "untitled:checked":
        pass
    assert pipe.ask("shutdown")["result"] is None
    assert pipe.end() == 0


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="asks the system for the processes of a process")
def test_another_process_checks_where_one_was_killed(pipe: Pipe) -> None:
    pipe.initialize()
    for version in (1, 2):
        pipe.notify("textDocument/didOpen", open_document(f"untitled:{version}", KERNEL))
        while not pipe.until("textDocument/publishDiagnostics")["params"]["diagnostics"]:
            pass
        own = pipe.process.pid
        for child in Path(f"/proc/{own}/task/{own}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
    assert pipe.ask("shutdown")["result"] is None
    assert pipe.end() == 0


def test_an_exit_without_shutdown_is_reported_by_the_status(pipe: Pipe) -> None:
    pipe.initialize()
    assert pipe.end() == 1


def test_the_server_ends_when_its_client_has_exited(pipe: Pipe) -> None:
    pipe.initialize()
    pipe.notify("textDocument/didOpen", open_document("untitled:a", KERNEL))
    assert pipe.process.stdin is not None
    pipe.process.stdin.close()
    pipe.process.stdin = None
    assert pipe.wait_for_exit() == 1


def test_the_columns_are_in_the_encoding_that_the_client_prefers(pipe: Pipe) -> None:
    capabilities = pipe.initialize(general={"positionEncodings": ["utf-8", "utf-16"]})["result"]["capabilities"]
    assert capabilities["positionEncoding"] == "utf-8"
    pipe.notify("textDocument/didOpen", open_document("untitled:a", KERNEL.replace("bra DONE", "/* ä😀 */ bra DONE")))
    line = KERNEL[: KERNEL.index("bra DONE")].count("\n")
    column = len("\t@%p1 /* ä😀 */ bra ".encode())
    found = pipe.ask("textDocument/hover", at("untitled:a", line, column))["result"]
    assert found["range"]["start"] == {"line": line, "character": column}
    assert "a label" in found["contents"]["value"]


def test_a_machine_without_pygls_shows_what_to_install() -> None:
    script = "import sys; sys.modules['pygls'] = None; from ptxkit.cli.main import main; main(['lsp'])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'ptxkit[lsp]'" in done.stderr
    assert b"language server" in shell("lsp", "--help").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="processes are ended otherwise")
def test_a_task_that_is_canceled_ends_the_process_and_the_next_job_gets_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def session() -> None:
        client = WorkerClient()
        with monkeypatch.context() as patch:
            patch.setattr(worker_client, "_request", lambda process, _: process.receive())  # it is asked nothing
            first = asyncio.create_task(client.request(AnalysisRequest("check", "a.ptx", KERNEL, DEFAULT)))
            while client._process is None:
                await asyncio.sleep(0)
            process = client._process
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
        assert isinstance(await client.request(AnalysisRequest("check", "a.ptx", KERNEL, DEFAULT)), FileResult)
        assert process._process.returncode == -signal.SIGKILL
        await client.close()

    asyncio.run(session())


def test_no_process_is_started_after_the_server_has_ended() -> None:
    async def session() -> None:
        client = WorkerClient()
        await client.start()
        process = client._process
        assert process is not None
        await client.close()
        assert client._process is None
        assert process._process.returncode is not None
        with pytest.raises(WorkerError, match="is shutting down"):
            await client.request(AnalysisRequest("check", "a.ptx", KERNEL, DEFAULT))

    asyncio.run(session())
