// A reporter for vitest: one JSON object a line for each test, and for a file that did not load.
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';

const { PROBITY_REPORT: report, PROBITY_ROOT: root } = process.env;
const tell = (event) => appendFileSync(report, JSON.stringify(event) + '\n');
const states = { passed: 'passed', failed: 'failed', pass: 'passed', fail: 'failed' };

const tellTest = (file, name, state, duration, error) => {
  tell({
    event: 'test',
    test: [relative(root, file), name].join(' > '),
    state: states[state] ?? 'skipped',
    seconds: (duration ?? 0) / 1000,
    kind: error?.name && String(error.name),
    message: String(error?.stack ?? '').split('\n    at ')[0],
  });
  if (error) console.log(`${name}: ${error.stack ?? error.message}`);
};
const tellUnloaded = (file, error) => {
  tell({ event: 'unloaded', file: relative(root, file) });
  console.log(error.stack ?? error.message);
};

export default class {
  #isModern = false;

  onTestRunStart(files) {
    this.#isModern = true;
    if (files.length > 0) tell({ event: 'selected', tests: [] });
  }

  onTestCaseResult(test) {
    const { state, errors } = test.result();
    tellTest(test.module.moduleId, test.fullName, state, test.diagnostic()?.duration, errors?.[0]);
  }

  onTestModuleEnd(module) {
    for (const error of module.errors()) tellUnloaded(module.moduleId, error);
  }

  onTestRunEnd() {
    tell({ event: 'ended' });
  }

  // Before version 3 there is nothing but this, with all tests of all files.
  onFinished(files = []) {
    if (this.#isModern) return;
    const walk = (file, tasks, above) => {
      for (const { type, tasks: inner, name, result } of tasks) {
        if (type === 'suite') walk(file, inner, [...above, name]);
        else tellTest(file, [...above, name].join(' > '), result?.state, result?.duration, result?.errors?.[0]);
      }
    };
    for (const { filepath, tasks, result } of files) {
      walk(filepath, tasks, []);
      const [error] = result?.errors ?? [];
      if (error && tasks.length === 0) tellUnloaded(filepath, error);
    }
    tell({ event: 'ended' });
  }
}
