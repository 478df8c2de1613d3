/** The extension: it starts `ptxkit lsp`, which does the work, and offers two commands that call ptxkit. */

import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { call, type Settings } from "./program";

let client: LanguageClient | undefined;

function settings(): Settings {
  const values = vscode.workspace.getConfiguration("ptxkit");
  return { command: values.get("command", "ptxkit"), arguments: values.get<string[]>("arguments", []) };
}

async function start(): Promise<void> {
  const server = call(settings(), "lsp", "--stdio");
  client = new LanguageClient("ptxkit", "ptxkit", server, {
    documentSelector: [{ scheme: "file", language: "ptx" }],
    initializationOptions: { documentation: vscode.workspace.getConfiguration("ptxkit").get("documentation", "") },
  });
  try {
    await client.start();
  } catch (error) {
    const remedy = "Install it by `pip install 'ptxkit[lsp]'`, or set `ptxkit.command`.";
    void vscode.window.showErrorMessage(`The language server \`${server.command}\` does not start: ${error}. ${remedy}`);
  }
}

async function stop(): Promise<void> {
  if (client?.isRunning()) {
    await client.stop();
  }
  client = undefined;
}

/** The path of the PTX file that is shown, with its changes on the disk; undefined if no PTX file is shown. */
async function shownFile(): Promise<string | undefined> {
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId !== "ptx" || document.uri.scheme !== "file") {
    void vscode.window.showErrorMessage("Open a PTX file first.");
    return undefined;
  }
  return (await document.save()) ? document.uri.fsPath : undefined;
}

async function verify(): Promise<void> {
  const file = await shownFile();
  if (file !== undefined) {
    const { command, args } = call(settings(), "verify", "--", file);
    const execution = new vscode.ProcessExecution(command, args, { cwd: dirname(file) });
    const task = new vscode.Task({ type: "ptxkit" }, vscode.TaskScope.Workspace, "verify", "ptxkit", execution);
    await vscode.tasks.executeTask(task);
  }
}

async function view(): Promise<void> {
  const file = await shownFile();
  if (file === undefined) {
    return;
  }
  const page = join(await mkdtemp(join(tmpdir(), "ptxkit-")), `${basename(file)}.html`);
  const { command, args } = call(settings(), "view", "--output", page, "--", file);
  try {
    await promisify(execFile)(command, args, { cwd: dirname(file) });
  } catch (error) {
    const failed = error as { stderr?: string; message: string };
    void vscode.window.showErrorMessage(failed.stderr?.trim() || failed.message);
    return;
  }
  await vscode.env.openExternal(vscode.Uri.file(page));
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("ptxkit.verify", verify),
    vscode.commands.registerCommand("ptxkit.view", view),
    vscode.commands.registerCommand("ptxkit.restart", async () => {
      await stop();
      await start();
    }),
  );
  await start();
}

export function deactivate(): Promise<void> {
  return stop();
}
