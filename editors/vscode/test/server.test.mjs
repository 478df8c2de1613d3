// The server, as the extension calls it. PTXKIT_PYTHON: an interpreter that has ptxkit; otherwise `ptxkit` is on the path.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import test from "node:test";

const require = createRequire(import.meta.url);
const rpc = require("vscode-jsonrpc/node");
const { call } = require("../dist/program.js");

const python = process.env.PTXKIT_PYTHON;
const settings = python ? { command: python, arguments: ["-m", "ptxkit"] } : { command: "ptxkit", arguments: [] };
const kernel = new URL("../../../docs/tutorial/broken.ptx", import.meta.url);

test("a text with a fault has the finding, and a fix", { timeout: 120_000 }, async () => {
  const { command, args } = call(settings, "lsp", "--stdio");
  const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const connection = rpc.createMessageConnection(server.stdout, server.stdin);
  try {
    const published = new Promise((resolve) => {
      connection.onNotification("textDocument/publishDiagnostics", (params) => {
        if (params.uri === kernel.href && params.diagnostics.length > 0) resolve(params.diagnostics);
      });
    });
    connection.listen();
    const answer = await connection.sendRequest("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
    for (const feature of ["hoverProvider", "completionProvider", "codeActionProvider", "documentFormattingProvider"]) {
      assert.ok(answer.capabilities[feature], feature);
    }
    await connection.sendNotification("initialized", {});
    const text = await readFile(kernel, "utf8");
    const textDocument = { uri: kernel.href, languageId: "ptx", version: 1, text };
    await connection.sendNotification("textDocument/didOpen", { textDocument });
    const [finding] = await published;
    assert.equal(finding.code, "PTX401");
    const context = { diagnostics: [finding] };
    const actions = await connection.sendRequest("textDocument/codeAction", { textDocument, range: finding.range, context });
    assert.ok(actions.some((action) => action.kind === "quickfix" && action.title.includes("fence.proxy.async")), actions.map((action) => action.title).join());
    await connection.sendRequest("shutdown");
    await connection.sendNotification("exit");
    assert.equal(await new Promise((resolve) => server.once("exit", resolve)), 0);
  } finally {
    connection.dispose();
    server.kill();
  }
});
