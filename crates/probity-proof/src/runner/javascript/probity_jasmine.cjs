// A helper for jasmine: prints TAP, a line for each test. A newline comes first, because jasmine's own
// reporter prints dots.
const suites = [];
let count = 0;
const print = (text) => process.stdout.write('\n' + text);

jasmine.getEnv().addReporter({
  suiteStarted: (suite) => suites.push(suite.description),
  suiteDone: () => suites.pop(),
  specDone: ({ description, status, duration, failedExpectations: [failure] }) => {
    const name = [...suites, description].join(' > ').replace(/[#\s]+/g, (found) =>
      found.includes('#') ? found.replace(/#/g, '\\#') : ' ');
    const isOk = status !== 'failed';
    const mark = ['pending', 'disabled', 'excluded'].includes(status) ? ' # SKIP' : ` # time=${duration ?? 0}ms`;
    print(`${isOk ? 'ok' : 'not ok'} ${++count} - ${name}${mark}\n`);
    if (isOk) return;
    const stack = String(failure?.stack ?? '').split('\n').slice(0, 3);
    const kind = /^(?:Uncaught )?([A-Za-z]+):/.exec(failure?.message ?? '')?.[1];
    const lines = [`message: ${failure?.message ?? ''}`, ...(kind ? [`name: ${kind}`] : []), ...stack];
    process.stdout.write(['  ---', ...lines.map((line) => '  ' + line.replace(/\n/g, '\n  ')), '  ...\n'].join('\n'));
  },
  jasmineDone: () => print(`1..${count}\n`),
});
