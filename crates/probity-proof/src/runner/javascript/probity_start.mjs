// Loaded before a test: writes down how its process came to an end, if not by itself.
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';

const { PROBITY_REPORT: report, PROBITY_ROOT: root } = process.env;
const tell = (event) => appendFileSync(report, JSON.stringify(event) + '\n');
process.on('uncaughtExceptionMonitor', () => tell({ event: 'unloaded' }));
const exit = process.exit;
process.exit = (code) => {
  tell({ event: 'left', file: relative(root, process.argv[1] ?? '') });
  exit(code);
};
// A file that node runs by itself may have no test at all.
if (!process.execArgv.includes('--test') && !process.env.NODE_TEST_CONTEXT) {
  process.on('exit', () => tell({ event: 'ended' }));
}
