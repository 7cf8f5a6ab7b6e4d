// A reporter for vitest: one JSON object a line for each test, and for a file that did not load.
import { appendFileSync } from 'node:fs';

const report = process.env.PROBITY_REPORT;
const tell = (event) => appendFileSync(report, JSON.stringify(event) + '\n');

export default class {
  onTestCaseResult(test) {
    const { state, errors } = test.result();
    const error = errors?.[0];
    tell({
      event: 'test',
      file: test.module.moduleId,
      name: test.name,
      full: test.fullName,
      state,
      milliseconds: test.diagnostic()?.duration ?? 0,
      harness: false,
      error: { name: String(error?.name ?? ''), code: String(error?.code ?? ''), stack: String(error?.stack ?? '') },
    });
    if (error) console.log(`${test.fullName}: ${error.stack ?? error.message}`);
  }

  onTestModuleEnd(module) {
    for (const error of module.errors()) {
      tell({ event: 'uncaught' });
      console.log(error.stack ?? error.message);
    }
  }
}
