// A reporter for vitest: one JSON object a line for each test, and for a file that did not load.
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';

const { PROBITY_REPORT: report, PROBITY_ROOT: root } = process.env;
const tell = (event) => appendFileSync(report, JSON.stringify(event) + '\n');
const states = { passed: 'passed', failed: 'failed' };

export default class {
  onTestCaseResult(test) {
    const { state, errors } = test.result();
    const error = errors?.[0];
    tell({
      event: 'test',
      test: [relative(root, test.module.moduleId), test.fullName].join(' > '),
      state: states[state] ?? 'skipped',
      seconds: (test.diagnostic()?.duration ?? 0) / 1000,
      kind: error?.name && String(error.name),
      message: String(error?.stack ?? '').split('\n    at ')[0],
    });
    if (error) console.log(`${test.fullName}: ${error.stack ?? error.message}`);
  }

  onTestModuleEnd(module) {
    for (const error of module.errors()) {
      tell({ event: 'unloaded', file: relative(root, module.moduleId) });
      console.log(error.stack ?? error.message);
    }
  }

  onTestRunEnd() {
    tell({ event: 'ended' });
  }
}
