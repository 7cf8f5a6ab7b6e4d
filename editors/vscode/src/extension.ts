// The extension: starts the server, shows its state, and offers AI fixes as a command.

import * as vscode from "vscode";
import { CloseAction, ErrorAction, LanguageClient, State } from "vscode-languageclient/node";

import { find, here, launch } from "./binary";
import { AI_KIND, SELECTOR, ruleOf } from "./documents";

let client: LanguageClient | undefined;
let status: vscode.StatusBarItem;
/** A directory of the extension's own, in which the server starts. */
let storage: string;
/** Starts and stops follow one another: two at once would leave a server that nothing stops. */
let turn: Promise<void> = Promise.resolve();

const START_AGAIN = "Select to restart.";
const OPEN_SETTING = "Open the setting";
/** The scheme of the pages of rules. */
const PAGES = "probity-rule";

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  storage = context.globalStorageUri.fsPath;
  status = vscode.window.createStatusBarItem("probity.status", vscode.StatusBarAlignment.Right, 10);
  status.name = "probity";
  status.command = "probity.restart";
  context.subscriptions.push(
    status,
    vscode.commands.registerCommand("probity.restart", restart),
    vscode.commands.registerCommand("probity.fixWithAi", fixWithAi),
    vscode.commands.registerCommand("probity.showRule", showRule),
    vscode.workspace.registerTextDocumentContentProvider(PAGES, { provideTextDocumentContent: pageOf }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("probity.path") || event.affectsConfiguration("probity.arguments")) {
        await restart();
      }
    }),
  );
  await restart();
}

export async function deactivate(): Promise<void> {
  await (turn = turn.then(stop));
}

async function restart(): Promise<void> {
  await (turn = turn.then(stop).then(start));
}

async function stop(): Promise<void> {
  const stopping = client;
  client = undefined;
  try {
    await stopping?.stop();
  } catch {
    // A client whose server has never run or has ended refuses to stop; nothing is left of it.
  }
}

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("probity");
  const program = find(here(settings.get("path", "")));
  if (program === undefined) {
    fail("The program `probity` was not found. Install it, or set `probity.path` to its path.");
    return;
  }
  const args = settings.get<string[]>("arguments", ["lsp", "--stdio"]);
  let server: ReturnType<typeof launch>;
  try {
    server = launch(program, args, storage);
  } catch (error) {
    fail(`The server has no directory to start in: ${error}. Make \`${storage}\` writable.`);
    return;
  }
  let hasRun = false;
  const made: LanguageClient = new LanguageClient(
    "probity",
    "probity",
    // Without a transport, which would add another `--stdio` to the arguments.
    server,
    {
      documentSelector: SELECTOR,
      // A server that never ran would fail again, and the message below names a way out.
      initializationFailedHandler: () => false,
      errorHandler: {
        error: (error, message, count) =>
          hasRun ? usual.error(error, message, count) : { action: ErrorAction.Continue, handled: true },
        closed: () => (hasRun ? usual.closed() : { action: CloseAction.DoNotRestart, handled: true }),
      },
    },
  );
  const usual = made.createDefaultErrorHandler();
  client = made;
  made.onDidChangeState(({ newState }) => {
    // The end of a server that was replaced or never ran is not news.
    if (client !== made) return;
    hasRun ||= newState === State.Running;
    if (newState === State.Running) show("$(check) probity", `Running ${program}. ${START_AGAIN}`);
    if (newState === State.Starting) show("$(sync~spin) probity", `Starting ${program}`);
    if (newState === State.Stopped) show("$(circle-slash) probity", `Stopped. ${START_AGAIN}`);
  });
  try {
    await made.start();
  } catch {
    client = undefined;
    const command = [program, ...args].join(" ");
    fail(`The language server \`${command}\` did not start. Check \`probity.path\` and \`probity.arguments\`.`);
  }
}

/** Shows what is wrong. Nothing waits for the answer: a restart must work while the message is open. */
function fail(message: string): void {
  show("$(error) probity", `${message} ${START_AGAIN}`);
  void vscode.window.showErrorMessage(message, OPEN_SETTING).then((chosen) => {
    if (chosen !== OPEN_SETTING) return;
    void vscode.commands.executeCommand("workbench.action.openSettings", "probity.path");
  });
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
    await vscode.window.showInformationMessage("probity has no finding at the cursor.");
    return;
  }
  const page = await vscode.workspace.openTextDocument(vscode.Uri.from({ scheme: PAGES, path: `/${rule}.md` }));
  await vscode.window.showTextDocument(page, { preview: true, viewColumn: vscode.ViewColumn.Beside });
}

/** The text of a rule's page: a document of its own kind, which nobody is asked to save. */
async function pageOf(uri: vscode.Uri): Promise<string | undefined> {
  const rule = uri.path.slice(1).replace(/\.md$/, "");
  return client?.sendRequest<string>("workspace/executeCommand", { command: "probity.explain", arguments: [rule] });
}
