// docs/threat-model.md covers every entry point and secret, and names an existing test for each attack.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SECRET_OF_FILE, SETTINGS } from '../../src/process/settings/every-setting.ts';
import { ROOT, TEST_ENDS } from '../support/tests/sources.ts';

const text = readFileSync(join(ROOT, 'docs/threat-model.md'), 'utf8');
const tables = text.split(/^## /m).map((section) => section.split('\n').filter((line) => /^\| /.test(line)));
const rowsOf = (head: RegExp) =>
  tables.filter(([first]) => head.test(first ?? '')).flatMap((table) => table.slice(1));

it('names every address that listens, and every service that a setting leads to', () => {
  const names = Object.values(SETTINGS).map(({ name }) => name);
  const doors = names.filter((name) => /_LISTEN$|_URL$|_ISSUER$|_DIRECTORY$|^VANTAGE_API$/.test(name));
  expect(doors.length).toBeGreaterThan(10);
  expect(doors.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});

it('names a test for each attack', () => {
  const attacks = rowsOf(/^\| attack /);
  expect(attacks.length).toBeGreaterThan(40);
  const isTest = (path: string) => TEST_ENDS.some((end) => existsSync(join(ROOT, path + end)));
  const unproven = attacks.filter((row) => !isTest(/\| `(test\/[\w/-]+)` \|$/.exec(row)?.[1] ?? ''));
  expect(unproven).toEqual([]);
});

it('lists every secret setting once', () => {
  const listed = rowsOf(/^\| setting /).map((row) => /^\| `(\w+)`/.exec(row)?.[1]);
  expect(listed.sort()).toEqual([...SECRET_OF_FILE.values()].sort());
});
