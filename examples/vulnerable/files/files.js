// Serves the pages of a directory.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export function page(root, name) {
  const path = join(root, name);
  return readFileSync(path, 'utf8');
}
