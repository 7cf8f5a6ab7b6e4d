// A reporter for node --test: one JSON object a line for each test.
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';

const { PROBITY_REPORT: report, PROBITY_ROOT: root } = process.env;
const tell = (event) => appendFileSync(report, JSON.stringify(event) + '\n');
const ofCode = ['testCodeFailure', 'uncaughtException', 'unhandledRejection', 'subtestsFailed'];

export default async function* (source) {
  const above = [];
  for await (const { type, data } of source) {
    if (type === 'test:start') above.splice(data.nesting, Infinity, data.name);
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const error = data.details?.error;
    const cause = error?.cause;
    const file = relative(root, (data.file ?? '').replace(/^file:\/\//, ''));
    let state = type === 'test:pass' ? 'passed' : 'failed';
    if (data.skip !== undefined || data.todo !== undefined) state = 'skipped';
    // The runner ended it, and not its body.
    else if (error !== undefined && !ofCode.includes(error.failureType)) state = 'began';
    const event = {
      event: 'test',
      test: [file, ...above.slice(0, data.nesting), data.name].join(' > '),
      state,
      seconds: (data.details?.duration_ms ?? 0) / 1000,
      kind: cause?.name && String(cause.name),
      message: String(cause?.stack ?? '').split('\n    at ')[0],
    };
    // A file that ends badly before any of its tests is told of as a test itself.
    const isUnloaded = state !== 'passed' && data.name === data.file;
    tell(isUnloaded ? { event: 'unloaded', file } : event);
    if (error) yield `${data.name}: ${cause?.stack ?? cause}\n`;
  }
  tell({ event: 'ended' });
}
