// Reads the site as people do, and prints what it saw as JSON: node browser.mjs PLAYWRIGHT DIRECTORY
import { execSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join } from "node:path";

const [playwright, directory] = process.argv.slice(2);
const { chromium } = createRequire(`${playwright}/`)("playwright-core");
const executablePath = execSync("command -v chromium", { encoding: "utf8" }).trim();
// A busy machine is no failure of the site.
const timeout = 180_000;

const kinds = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".json": "application/json" };
const server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url, "http://x").pathname);
  try {
    const bytes = readFileSync(join(directory, path.endsWith("/") ? `${path}index.html` : path));
    response.writeHead(200, { "Content-Type": kinds[extname(path)] ?? (path.endsWith("/") ? "text/html" : "application/octet-stream") });
    response.end(bytes);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const address = `http://127.0.0.1:${server.address().port}`;

const seen = { pages: 0, dead: [], foreign: [], console: [], overflow: {} };

// Every link of every page leads to a file, and to a heading that the file has.
const pages = readdirSync(directory, { recursive: true }).filter((name) => name.endsWith(".html"));
const texts = new Map(pages.map((name) => [name, readFileSync(join(directory, name), "utf8")]));
const files = new Set(readdirSync(directory, { recursive: true }));
for (const [name, text] of texts) {
  seen.pages += 1;
  if (name === "404.html") continue;
  for (const [, target] of text.matchAll(/(?:href|src)="([^"]*)"/g)) {
    if (/^(mailto:|data:|javascript:)/.test(target)) continue;
    const url = new URL(target.replaceAll("&amp;", "&"), `http://site/${name}`);
    if (url.host !== "site") continue;
    const path = decodeURIComponent(url.pathname.slice(1)) || "index.html";
    const heading = decodeURIComponent(url.hash.slice(1));
    const isThere = files.has(path) || files.has(`${path}index.html`) || path === "." ;
    const page = texts.get(path);
    if (!isThere || (heading && page && !page.includes(`id="${heading}"`))) seen.dead.push(`${name}: ${target}`);
  }
}

const browser = await chromium.launch({ executablePath, timeout, args: ["--no-sandbox"] });
async function open(width) {
  const page = await (await browser.newContext({ viewport: { width, height: 900 } })).newPage();
  page.setDefaultTimeout(timeout);
  page.on("console", (message) => message.type() === "error" && seen.console.push(message.text()));
  page.on("pageerror", (error) => seen.console.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(address) && !request.url().startsWith("data:")) seen.foreign.push(request.url());
  });
  await page.goto(`${address}/index.html`);
  return page;
}

// With the keyboard alone: the search finds a rule, and Enter opens its page.
const page = await open(1280);
await page.keyboard.press("/");
await page.keyboard.type("DL3006");
await page.locator('.md-search-result__link[href*="rules/hadolint/DL3006"]').first().waitFor();
await page.keyboard.press("ArrowDown");
await page.keyboard.press("Enter");
await page.waitForURL(/DL3006/);
seen.found = await page.locator("h1").innerText();

for (const [name, width] of [["wide", 1280], ["narrow", 320]]) {
  const page = await open(width);
  seen.overflow[name] = 0;
  for (const path of ["index.html", "check.html", "rules/hadolint/DL3009.html", "cli.html"]) {
    await page.goto(`${address}/${path}`);
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    seen.overflow[name] = Math.max(seen.overflow[name], beyond);
  }
}
await browser.close();
server.close();
console.log(JSON.stringify(seen));
