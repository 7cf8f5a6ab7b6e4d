// The client's own code against the real server, which PROBITY names.

import { deepEqual, equal, ok } from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  StreamMessageReader,
  StreamMessageWriter,
  createProtocolConnection,
} from "vscode-languageserver-protocol/node";

import { find, launch } from "../src/binary";
import { AI_KIND, SELECTOR, ruleOf } from "../src/documents";

const program = process.env.PROBITY ?? "";

test("the program is the one that is set, or the first that can be run", () => {
  const home = mkdtempSync(join(tmpdir(), "probity-home-"));
  const search = { configured: "", path: `relative:${home}/none`, home };
  equal(find(search), undefined);
  const local = join(home, ".local/bin");
  mkdirSync(local, { recursive: true });
  const file = join(local, "probity");
  writeFileSync(file, "");
  equal(find(search), undefined, "a file that cannot be run");
  chmodSync(file, 0o755);
  equal(find(search), file);
  const first = join(home, "first");
  mkdirSync(first);
  symlinkSync(file, join(first, "probity"));
  equal(find({ ...search, path: first }), join(first, "probity"));
  equal(find({ ...search, configured: "~/.local/bin/probity" }), file);
  equal(find({ ...search, configured: "/no/such/probity" }), undefined);
});

test("the server starts in a directory of the extension's own, not in the workspace", () => {
  const home = mkdtempSync(join(tmpdir(), "probity-home-"));
  const storage = join(home, "globalStorage/probity.probity");
  const server = launch("/bin/probity", ["lsp"], storage);
  deepEqual(server, { command: "/bin/probity", args: ["lsp"], options: { cwd: storage } });
  deepEqual(readdirSync(storage), []);
  launch("/bin/probity", ["lsp"], storage);
});

test("the real server finds, fixes and explains through the editor's own protocol library", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "probity-work-"));
  const configured = find({ configured: program, path: "", home: folder });
  ok(configured, "PROBITY names the program under test");
  const server = launch(configured, ["lsp", "--stdio"], join(mkdtempSync(join(tmpdir(), "probity-home-")), "s"));
  const child = spawn(server.command, server.args, server.options);
  context.after(() => child.kill());
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const connection = createProtocolConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  connection.listen();
  const answer: any = await connection.sendRequest("initialize", {
    processId: process.pid,
    rootUri: null,
    workspaceFolders: [{ uri: `file://${folder}`, name: "work" }],
    capabilities: { textDocument: { diagnostic: {}, codeAction: { resolveSupport: { properties: ["edit"] } } } },
  });
  ok(answer.capabilities.codeActionProvider.codeActionKinds.includes(AI_KIND));
  await connection.sendNotification("initialized", {});
  const uri = `file://${folder}/Dockerfile`;
  ok(SELECTOR.some((filter) => filter.language === "dockerfile"));
  await connection.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: "dockerfile", version: 1, text: "# é😀\nFROM scratch AS Under\n" },
  });
  const report: any = await connection.sendRequest("textDocument/diagnostic", { textDocument: { uri } });
  equal(report.items.length, 1);
  const rule = ruleOf(report.items[0].code);
  equal(rule, "buildkit/StageNameCasing");
  equal(ruleOf({ value: rule, target: "x" }), rule);
  const actions: any[] = await connection.sendRequest("textDocument/codeAction", {
    textDocument: { uri },
    range: report.items[0].range,
    context: { diagnostics: report.items },
  });
  const fix = actions.find((action) => action.isPreferred);
  deepEqual(fix.edit.changes[uri], [{ range: report.items[0].range, newText: "under" }]);
  const page: string = await connection.sendRequest("workspace/executeCommand", {
    command: "probity.explain",
    arguments: [rule],
  });
  ok(page.startsWith("# buildkit/StageNameCasing"));
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  equal(await ended, 0);
  connection.dispose();
});
