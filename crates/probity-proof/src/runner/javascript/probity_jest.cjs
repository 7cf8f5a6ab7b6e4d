// A reporter for jest: one JSON object a line for each test, and for a file that did not load.
const { appendFileSync } = require('node:fs');

const report = process.env.PROBITY_REPORT;
const tell = (event) => appendFileSync(report, JSON.stringify(event) + '\n');
const states = { passed: 'passed', failed: 'failed' };

module.exports = class {
  onTestResult(_, result) {
    if (result.testExecError) {
      tell({ event: 'uncaught' });
    }
    for (const test of result.testResults) {
      const details = test.failureDetails?.[0];
      const stack = String(details?.stack ?? test.failureMessages?.[0] ?? '');
      tell({
        event: 'test',
        file: result.testFilePath,
        name: test.title,
        full: [...test.ancestorTitles, test.title].join(' > '),
        state: states[test.status] ?? 'skipped',
        milliseconds: test.duration ?? 0,
        harness: false,
        // An error of another realm has lost its class, but not the head of its stack.
        error: { name: /^[A-Za-z]*/.exec(stack)[0], code: '', stack },
      });
    }
    if (result.failureMessage) console.log(result.failureMessage);
  }
};
