import assert from 'node:assert';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { page } from './files.js';

function site() {
  const directory = mkdtempSync(join(tmpdir(), 'site-'));
  const root = join(directory, 'pages');
  mkdirSync(root);
  writeFileSync(join(root, 'index.html'), 'welcome');
  writeFileSync(join(directory, 'password'), 'secret');
  return root;
}

test('nobody leaves the directory', () => {
  assert.throws(() => page(site(), '../password'));
});

test('visitors read pages', () => {
  assert.strictEqual(page(site(), 'index.html'), 'welcome');
});
