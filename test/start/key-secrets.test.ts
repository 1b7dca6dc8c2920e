import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readSettings } from '../../src/process/settings/read-settings.ts';
import { ensureKeySecrets } from '../../src/start/key-secrets.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zf-keys-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

it('the secret is made once, for its owner alone, in the form of KEY_SECRETS', () => {
  const made = ensureKeySecrets(join(directory, 'new'));
  expect(made.isNew).toBe(true);
  expect(statSync(made.file).mode & 0o777).toBe(0o600);
  expect(ensureKeySecrets(join(directory, 'new'))).toEqual({ ...made, isNew: false });
  expect(readSettings({ KEY_SECRETS: made.text }).keySecrets).toHaveLength(1);
});

it('two machines never make secrets of one name', () => {
  const names = ['a', 'b'].map((name) => ensureKeySecrets(join(directory, name)).text.split(':')[0]);
  expect(names[0]).not.toBe(names[1]);
});

it('a file that cannot be read ends the start with its name', () => {
  mkdirSync(join(directory, 'keys'));
  expect(() => ensureKeySecrets(directory)).toThrow(/keys: the secret for stored secrets cannot be read/);
});
