// The installed engine is the reviewed one: the lock file has the hash of every package.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { lackOfHash } from '../../src/start/analytics/install-engine.ts';

const ROOT = resolve(import.meta.dirname, '../..');

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Record<string, string>;
}

const { packages } = JSON.parse(
  readFileSync(join(ROOT, 'src/start/analytics/package-lock.json'), 'utf8'),
) as { packages: Record<string, Locked> };
const installed = Object.entries(packages).filter(([path]) => path !== '');

it.each(
  installed,
)('%s has a hash, and comes from the registry that npm is configured with', (_path, locked) => {
  expect(locked.integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
  expect(locked.resolved).toBeUndefined();
});

it('every engine has an exact version, and those without a hash cause a warning before installation', () => {
  const engines = Object.entries(packages['node_modules/chdb']?.optionalDependencies ?? {});
  expect(engines).not.toHaveLength(0);
  const without: string[] = [];
  for (const [name, version] of engines) {
    expect(version).toMatch(/^\d+\.\d+\.\d+(-[a-z0-9.]+)?$/);
    const locked = packages[`node_modules/${name}`];
    if (locked === undefined) without.push(name);
    else expect(locked.version).toBe(version);
    const [platform, arch] = name.replace('@chdb/lib-', '').split('-') as [string, string];
    const told = lackOfHash(ROOT, { platform, arch });
    if (locked !== undefined) expect(told).toBeUndefined();
    else expect(told).toContain(`no hash for ${platform} ${arch}`);
  }
  // The lock file was created without access to the other hashes. With them, this list is empty.
  expect(without).toEqual(['@chdb/lib-darwin-arm64', '@chdb/lib-darwin-x64', '@chdb/lib-linux-arm64-gnu']);
});
