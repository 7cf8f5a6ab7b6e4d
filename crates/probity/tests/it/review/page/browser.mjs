// Looks at a page as people do, and prints what it saw as JSON: node browser.mjs PLAYWRIGHT URL [DIRECTORY]
import { execSync } from "node:child_process";
import { createRequire } from "node:module";

const [playwright, url, directory] = process.argv.slice(2);
const { chromium } = createRequire(`${playwright}/`)("playwright-core");
const executablePath = execSync("command -v chromium", { encoding: "utf8" }).trim();
// A busy machine is no failure of the page.
const timeout = 180_000;
const browser = await chromium.launch({ executablePath, timeout, args: ["--no-sandbox"] });
const seen = { console: [], requests: [], overflow: {}, contrast: {} };

async function open(options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(timeout);
  page.on("console", (message) => seen.console.push(message.text()));
  page.on("pageerror", (error) => seen.console.push(String(error)));
  page.on("request", (request) => {
    if (request.url() !== url && !request.url().startsWith("data:")) seen.requests.push(request.url());
  });
  await page.goto(url);
  return page;
}

// The lowest contrast of a text with what is behind it, and that text.
function contrast() {
  const rgb = (text) => {
    const [red, green, blue, alpha = 1] = text.match(/[\d.]+/g).map(Number);
    return { red, green, blue, alpha };
  };
  const light = ({ red, green, blue }) => {
    const [r, g, b] = [red, green, blue].map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if (color.alpha > 0) return color;
    }
    return rgb("rgb(255, 255, 255)");
  };
  let worst = { ratio: 21, text: "" };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || !element.checkVisibility() || element.closest("svg")) continue;
    const pair = [light(rgb(getComputedStyle(element).color)), light(behind(element))];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < worst.ratio) worst = { ratio, text };
  }
  return worst;
}

for (const colorScheme of ["light", "dark"]) {
  for (const [name, width] of [["wide", 1280], ["narrow", 320]]) {
    const page = await open({ colorScheme, viewport: { width, height: 900 } });
    seen.overflow[name] = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    seen.contrast[colorScheme] = await page.evaluate(contrast);
    if (directory) await page.screenshot({ path: `${directory}/${name}-${colorScheme}.png`, fullPage: true });
    await page.context().close();
  }
}

// With the keyboard alone: to the first check box, off, and on again.
const page = await open({ viewport: { width: 1280, height: 900 } });
const shown = () => page.evaluate(() => [...document.querySelectorAll("article")].filter((it) => it.checkVisibility()).length);
seen.before = await shown();
seen.focus = [];
for (let tabs = 0; tabs < 40; tabs += 1) {
  await page.keyboard.press("Tab");
  const focus = await page.evaluate(() => {
    const at = document.activeElement;
    return { tag: at.tagName, id: at.id, outline: getComputedStyle(at).outlineStyle };
  });
  if (focus.tag === "BODY") break;
  seen.focus.push(focus);
  if (focus.tag === "INPUT" && seen.after === undefined) {
    await page.keyboard.press("Space");
    seen.after = await shown();
    await page.keyboard.press("Space");
    seen.again = await shown();
  }
}
// On paper everything is there, and the filters are not.
await page.emulateMedia({ media: "print" });
seen.print = await page.evaluate(() => getComputedStyle(document.querySelector("fieldset") ?? document.body).display);
await page.context().close();

const bare = await open({ javaScriptEnabled: false });
seen.text = (await bare.locator("body").innerText()).slice(0, 4000);
await browser.close();
console.log(JSON.stringify(seen));
