// Runs files of tests one after the other, each in a process of its own, and writes what they print as
// one TAP report in which each file is a subtest. So a file that does not load takes no other with it.
const { spawn } = require('node:child_process');
const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');

const { PROBITY_REPORT: report, PROBITY_ROOT: root } = process.env;
const [words, ...files] = process.argv.slice(2);
const [program, ...first] = JSON.parse(words);
const write = (line) => appendFileSync(report, line + '\n');

const run = (file, number) =>
  new Promise((done) => {
    const name = relative(root, file);
    write(`# Subtest: ${name}`);
    const child = spawn(program, [...first, file], { stdio: ['ignore', 'pipe', 'inherit'] });
    let began;
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      process.stdout.write(text);
      // To start takes longer than most tests.
      began ??= process.hrtime.bigint();
      const lines = (rest + text).split(/\r?\n/);
      rest = lines.pop();
      if (lines.length > 0) write(lines.map((line) => '    ' + line).join('\n'));
    });
    child.on('error', (error) => console.error(String(error)));
    child.on('close', (code) => {
      if (rest) write('    ' + rest);
      const time = began === undefined ? 0 : Number(process.hrtime.bigint() - began) / 1e6;
      write(`${code === 0 ? 'ok' : 'not ok'} ${number} - ${name} # time=${time}ms`);
      done();
    });
  });

(async () => {
  let number = 0;
  for (const file of files) await run(file, ++number);
  write(`1..${number}`);
})();
