// A reporter for jest: one JSON object a line for each test, and for a file that did not load.
const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');

const { PROBITY_REPORT: report, PROBITY_ROOT: root } = process.env;
const tell = (event) => appendFileSync(report, JSON.stringify(event) + '\n');
const states = { passed: 'passed', failed: 'failed' };

module.exports = class {
  // Only a run with tests begins.
  onRunStart() {
    tell({ event: 'selected', tests: [] });
  }

  onTestResult(_, result) {
    if (result.testExecError) {
      tell({ event: 'unloaded', file: relative(root, result.testFilePath) });
    }
    for (const test of result.testResults) {
      const details = test.failureDetails?.[0];
      const stack = String(details?.stack ?? test.failureMessages?.[0] ?? '');
      tell({
        event: 'test',
        test: [relative(root, result.testFilePath), ...test.ancestorTitles, test.title].join(' > '),
        state: states[test.status] ?? 'skipped',
        seconds: (test.duration ?? 0) / 1000,
        // An error of another realm has lost its class, but not the head of its stack.
        kind: /^[A-Za-z]+/.exec(stack)?.[0],
        message: stack.split('\n    at ')[0],
      });
    }
    if (result.failureMessage) console.log(result.failureMessage);
  }

  onRunComplete() {
    tell({ event: 'ended' });
  }
};
