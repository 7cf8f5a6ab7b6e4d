// Loaded before a test: writes down how its process came to an end, if not by itself.
import { appendFileSync } from 'node:fs';

const report = process.env.PROBITY_REPORT;
const tell = (event) => appendFileSync(report, JSON.stringify(event) + '\n');
process.on('uncaughtExceptionMonitor', () => tell({ event: 'unloaded' }));
const exit = process.exit;
process.exit = (code) => {
  tell({ event: 'left' });
  exit(code);
};
