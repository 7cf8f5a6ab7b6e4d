#!/usr/bin/env node
// Starts the program that npm installed for this platform, with the same arguments and streams.
"use strict";

const { spawn } = require("node:child_process");

const name = `probity-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/probity`);
} catch {
  console.error(
    `probity: the package ${name} is not installed. npm skips it with --omit=optional or ` +
      `--no-optional, and there is none for platforms that probity does not support.\n` +
      `Install it with: npm install ${name}@${require("../package.json").version}`,
  );
  process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A signal for this process is meant for the program; the terminal sends its own to both.
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`probity: cannot start ${program}: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => {
  if (signal) {
    // End as the program did, so that the shell sees the same signal.
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
