// The extension: starts the server, shows its state, and offers AI fixes as a command.

import * as vscode from "vscode";
import { LanguageClient, State, TransportKind } from "vscode-languageclient/node";

import { find, here } from "./binary";
import { AI_KIND, SELECTOR, ruleOf } from "./documents";

let client: LanguageClient | undefined;
let status: vscode.StatusBarItem;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  status = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Right, 10);
  status.name = "probity";
  status.command = "probity.restart";
  context.subscriptions.push(
    status,
    vscode.commands.registerCommand("probity.restart", restart),
    vscode.commands.registerCommand("probity.fixWithAi", fixWithAi),
    vscode.commands.registerCommand("probity.showRule", showRule),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("probity.path") || event.affectsConfiguration("probity.arguments")) {
        await restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function restart(): Promise<void> {
  await client?.stop();
  client = undefined;
  await start();
}

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("probity");
  const program = find(here(settings.get("path", "")));
  if (program === undefined) {
    show("$(error) probity", "The program `probity` was not found. Install it, or set `probity.path`.");
    const open = "Open the setting";
    const chosen = await vscode.window.showErrorMessage(
      "The program `probity` was not found. Install it, or set `probity.path` to its path.",
      open,
    );
    if (chosen === open) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "probity.path");
    }
    return;
  }
  const args = settings.get<string[]>("arguments", ["lsp", "--stdio"]);
  client = new LanguageClient(
    "probity",
    "probity",
    { command: program, args, transport: TransportKind.stdio },
    { documentSelector: SELECTOR },
  );
  client.onDidChangeState(({ newState }) => {
    if (newState === State.Running) show("$(check) probity", `Running ${program}. Select to restart.`);
    if (newState === State.Starting) show("$(sync~spin) probity", `Starting ${program}`);
    if (newState === State.Stopped) show("$(circle-slash) probity", "Stopped. Select to restart.");
  });
  await client.start();
}

function show(text: string, tooltip: string): void {
  status.text = text;
  status.tooltip = tooltip;
  status.show();
}

/** Asks for the AI actions at the cursor; choosing one starts the agent. */
async function fixWithAi(): Promise<void> {
  await vscode.commands.executeCommand("editor.action.codeAction", {
    kind: AI_KIND,
    apply: "ifSingle",
  });
}

/** Opens the page of the rule whose finding is at the cursor. */
async function showRule(): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || client === undefined) return;
  const here = vscode.languages
    .getDiagnostics(editor.document.uri)
    .filter((found) => found.source === "probity" && found.range.contains(editor.selection.active));
  const rule = here.map((found) => ruleOf(found.code)).find((name) => name !== undefined);
  if (rule === undefined) {
    await vscode.window.showInformationMessage("There is no finding of probity at the cursor.");
    return;
  }
  const content = await client.sendRequest<string>("workspace/executeCommand", {
    command: "probity.explain",
    arguments: [rule],
  });
  const page = await vscode.workspace.openTextDocument({ language: "markdown", content });
  await vscode.window.showTextDocument(page, { preview: true, viewColumn: vscode.ViewColumn.Beside });
}
