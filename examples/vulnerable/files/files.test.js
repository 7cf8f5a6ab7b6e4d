import assert from 'node:assert';
import test from 'node:test';
import { page } from './files.js';

test('a missing page is an error', () => {
  assert.throws(() => page('.', 'no-such-page'));
});
