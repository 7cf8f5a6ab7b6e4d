// A reporter for mocha: one JSON object a line for each test.
const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');

const { PROBITY_REPORT: report, PROBITY_ROOT: root } = process.env;

module.exports = class {
  constructor(runner) {
    const tell = (test, state, error) => {
      const event = {
        event: 'test',
        test: [relative(root, test.file ?? ''), ...test.titlePath()].join(' > '),
        state,
        seconds: (test.duration ?? 0) / 1000,
        kind: error?.name && String(error.name),
        message: String(error?.stack ?? '').split('\n    at ')[0],
      };
      appendFileSync(report, JSON.stringify(event) + '\n');
      if (error) console.log(`${test.fullTitle()}: ${error.stack ?? error}`);
    };
    runner.on('end', () => appendFileSync(report, '{"event": "ended"}\n'));
    runner.on('test', (test) => tell(test, 'began'));
    runner.on('pass', (test) => tell(test, 'passed'));
    runner.on('pending', (test) => tell(test, 'skipped'));
    runner.on('fail', (failed, error) => {
      if (failed.type !== 'hook') return tell(failed, 'failed', error);
      // A hook fails for the test at hand, or for the tests of its suite.
      const before = /^"before/.test(failed.title);
      const state = before ? 'setup-failed' : 'teardown-failed';
      const at = failed.ctx?.currentTest;
      for (const test of at ? [at] : failed.parent?.tests ?? []) {
        if (before || test.state === 'passed') tell(test, state, error);
      }
    });
  }
};
