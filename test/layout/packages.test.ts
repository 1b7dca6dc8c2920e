// The packages installed with the programs.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../support/tests/sources.ts';

const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { readonly dev?: true; readonly dependencies?: Record<string, string> }>;
};

it('the production packages do not report installations: swagger-ui-dist does so from version 5.18 on', () => {
  const installed = Object.entries(packages).filter(([, { dev }]) => dev !== true);
  expect(installed.length).toBeGreaterThan(50);
  const reporting = installed.filter(([path, { dependencies = {} }]) => {
    return path.endsWith('node_modules/@scarf/scarf') || '@scarf/scarf' in dependencies;
  });
  expect(reporting).toEqual([]);
});
