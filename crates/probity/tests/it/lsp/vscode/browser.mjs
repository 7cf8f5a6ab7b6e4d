// Uses the extension in VS Code's browser build as a person does, and prints what it saw as JSON:
// node browser.mjs TOOLS HOME WORK PROGRAM
import { execSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { createRequire } from "node:module";
import { join } from "node:path";

const [tools, home, work, program] = process.argv.slice(2);
const { chromium } = createRequire(`${tools}/browser/`)("playwright-core");
const executablePath = execSync("command -v chromium", { encoding: "utf8" }).trim();
// A busy machine is not a failure of the extension.
const timeout = 180_000;
const port = await new Promise((found) => {
  const probe = createServer().listen(0, "127.0.0.1", () => {
    const { port } = probe.address();
    probe.close(() => found(port));
  });
});
const address = `http://127.0.0.1:${port}/`;
const seen = { foreign: [] };

// In a browser the program runs on another machine than the editor's window, so it is a setting of
// that machine.
function setting(values) {
  mkdirSync(join(home, "data/Machine"), { recursive: true });
  writeFileSync(join(home, "data/Machine/settings.json"), JSON.stringify(values));
}
setting({ "probity.path": program });
mkdirSync(join(home, "data/User"), { recursive: true });
const quiet = {
  "chat.disableAIFeatures": true,
  "extensions.autoCheckUpdates": false,
  "files.autoSave": "off",
  "telemetry.telemetryLevel": "off",
  "workbench.enableExperiments": false,
  "workbench.startupEditor": "none",
};
writeFileSync(join(home, "data/User/settings.json"), JSON.stringify(quiet));

const entry = join(tools, "code-server/node_modules/code-server/out/node/entry.js");
const options = ["--auth=none", `--bind-addr=127.0.0.1:${port}`, `--user-data-dir=${home}/data`];
options.push(`--extensions-dir=${home}/extensions`, `--config=${home}/config.yaml`, "--disable-telemetry");
options.push("--disable-update-check", "--disable-workspace-trust", work);
const nowhere = JSON.stringify({ serviceUrl: "http://127.0.0.1:9" });
const server = spawn(process.execPath, [entry, ...options], {
  env: { ...process.env, HOME: home, EXTENSIONS_GALLERY: nowhere },
  stdio: ["ignore", "pipe", "pipe"],
});
let log = "";
for (const stream of [server.stdout, server.stderr]) stream.on("data", (bytes) => (log += bytes));

let browser;
try {
  await new Promise((ready, failed) => {
    server.stdout.on("data", () => log.includes("HTTP server listening") && ready());
    server.once("exit", () => failed(new Error(log)));
  });
  browser = await chromium.launch({ executablePath, timeout, args: ["--no-sandbox"] });
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
  page.setDefaultTimeout(timeout);
  await page.route("**/*", (route) => {
    const url = route.request().url();
    if (url.startsWith(address) || /^(data|blob):/.test(url)) return route.continue();
    seen.foreign.push(url);
    return route.abort();
  });
  await page.goto(address);
  await use(page);
} catch (error) {
  const pages = browser?.contexts().flatMap((context) => context.pages()) ?? [];
  const picture = join(home, "failure.png");
  await pages[0]?.screenshot({ path: picture });
  process.stderr.write(`${error}\npicture: ${picture}\nseen: ${JSON.stringify(seen)}\n${log.slice(-4000)}\n`);
  process.exitCode = 1;
} finally {
  await browser?.close();
  server.kill();
}
if (!process.exitCode) console.log(JSON.stringify(seen));

async function use(page) {
  const squiggles = page.locator("[class*=squiggly-]");
  const status = page.locator('.statusbar-item[id*="probity"]');
  const running = status.locator(".codicon-check");
  const failed = status.locator(".codicon-error");

  // A finding appears.
  await page.getByRole("treeitem", { name: "Dockerfile" }).dblclick();
  await squiggles.first().waitFor();
  await running.waitFor();
  seen.status = await status.getAttribute("aria-label");
  await page.locator(".view-line", { hasText: "FROM" }).click();
  await page.keyboard.press("F8");
  const message = page.locator(".marker-widget .message");
  await message.waitFor();
  seen.message = await message.innerText();
  await page.keyboard.press("Escape");

  // The page of its rule opens beside the file.
  await command(page, "probity: Show the page of a rule");
  const manual = page.locator(".editor-group-container").nth(1);
  await manual.locator(".view-line", { hasText: "StageNameCasing" }).first().waitFor();
  seen.page = (await manual.locator(".view-line").first().textContent()).replaceAll("\u00a0", " ");
  await command(page, "View: Focus First Editor Group");
  await command(page, "View: Close Editors in Other Groups");
  await manual.waitFor({ state: "detached" });

  // A program that does not exist, one that is not a server, and the right one again.
  setting({ "probity.path": "/no/such/program" });
  await failed.waitFor();
  seen.missing = await toast(page, "was not found");
  setting({ "probity.path": "/bin/false" });
  seen.broken = await toast(page, "did not start");
  await failed.waitFor();
  setting({ "probity.path": program });
  await running.waitFor();
  await squiggles.first().waitFor();

  // The preferred fix, and the file on the disk.
  await page.locator(".view-line", { hasText: "FROM" }).click();
  await page.keyboard.press("F8");
  await message.waitFor();
  const actions = page.locator(".action-widget .monaco-list-row.action");
  // A slow editor drops a key while it closes the message, and a list without answers closes again.
  for (let again = true, until = Date.now() + timeout; again; ) {
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+.");
    const shown = await actions.first().waitFor({ timeout: 10_000 }).then(() => true, () => false);
    again = !shown && Date.now() < until;
  }
  await actions.first().waitFor();
  seen.actions = (await actions.allInnerTexts()).map((title) => title.trim());
  await page.keyboard.press("Enter");
  const fixed = page.locator(".view-line", { hasText: /bad/ });
  await fixed.waitFor();
  await squiggles.first().waitFor({ state: "detached" });
  await fixed.click();
  await page.locator(".tab.dirty").waitFor();
  await page.keyboard.press("Control+s");
  await page.locator(".tab.dirty").waitFor({ state: "detached" });
  seen.text = readFileSync(join(work, "Dockerfile"), "utf8");

  // An agent's fix: the editor shows it, and changes the file once a person applies it.
  await page.getByRole("treeitem", { name: "Containerfile" }).dblclick();
  await page.locator(".view-line", { hasText: "golang" }).first().click();
  await squiggles.first().waitFor();
  await page.keyboard.press("Control+a");
  await command(page, "probity: Fix with AI");
  await actions.filter({ hasText: "multi-stage" }).first().click();
  const apply = page.locator(".pane-body").getByRole("button", { name: "Apply" });
  await apply.waitFor();
  // One for the file and one for the fix as a whole: half of a fix is not proven.
  const boxes = page.locator(".pane-body .monaco-checkbox");
  seen.boxes = await boxes.count();
  await boxes.first().click();
  seen.unconfirmed = readFileSync(join(work, "Containerfile"), "utf8");
  await apply.click();
  seen.proof = (await toast(page, "proven by")).text;
  await page.locator(".tab.dirty").waitFor();
  await page.locator(".view-line", { hasText: "golang" }).first().click();
  await page.keyboard.press("Control+s");
  await page.locator(".tab.dirty").waitFor({ state: "detached" });
  seen.mended = readFileSync(join(work, "Containerfile"), "utf8");
}

async function command(page, name) {
  await page.keyboard.press("F1");
  await page.locator(".quick-input-widget input").first().fill(`>${name}`);
  await page.locator(`.quick-input-list .monaco-list-row[aria-label^="${name}"]`).first().click();
}

async function toast(page, part) {
  const found = page.locator(".notification-toast", { hasText: part });
  await found.first().waitFor();
  const text = await found.first().locator(".notification-list-item-message").innerText();
  const buttons = await found.first().locator(".notification-list-item-buttons-container .monaco-button").allInnerTexts();
  return { text, buttons };
}
