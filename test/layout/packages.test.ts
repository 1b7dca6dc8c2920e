// The packages installed with the programs.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../support/tests/sources.ts';

const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<
    string,
    { readonly dev?: true; readonly integrity?: string; readonly dependencies?: Record<string, string> }
  >;
};

it('the production packages do not report installations: swagger-ui-dist does so from version 5.18 on', () => {
  const installed = Object.entries(packages).filter(([, { dev }]) => dev !== true);
  expect(installed.length).toBeGreaterThan(50);
  const reporting = installed.filter(([path, { dependencies = {} }]) => {
    return path.endsWith('node_modules/@scarf/scarf') || '@scarf/scarf' in dependencies;
  });
  expect(reporting).toEqual([]);
});

it('every package of the lock file has a hash, and package.json names exact versions', () => {
  const withoutHash = Object.entries(packages).filter(([path, { integrity }]) => path !== '' && !integrity);
  expect(withoutHash.map(([path]) => path)).toEqual([]);
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, object>;
  const versions = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((kind) =>
    Object.entries(manifest[kind] ?? {}),
  );
  expect(versions.length).toBeGreaterThan(50);
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
});
