// A reporter for node --test: one JSON object a line for each test.
import { appendFileSync } from 'node:fs';

const report = process.env.PROBITY_REPORT;

export default async function* (source) {
  const above = [];
  for await (const { type, data } of source) {
    if (type === 'test:start') above.splice(data.nesting, Infinity, data.name);
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const skipped = data.skip !== undefined || data.todo !== undefined;
    const error = data.details?.error;
    const cause = error?.cause;
    const event = {
      event: 'test',
      file: data.file ?? '',
      name: data.name,
      full: [...above.slice(0, data.nesting), data.name].join(' > '),
      state: skipped ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed',
      milliseconds: data.details?.duration_ms ?? 0,
      harness: error !== undefined && !['testCodeFailure', 'uncaughtException', 'unhandledRejection', 'subtestsFailed'].includes(error.failureType),
      error: { name: String(cause?.name ?? ''), code: String(cause?.code ?? ''), stack: String(cause?.stack ?? '') },
    };
    appendFileSync(report, JSON.stringify(event) + '\n');
    if (error) yield `${data.name}: ${cause?.stack ?? cause}\n`;
  }
}
