// Steps of the schema run while processes of the previous version run (docs/operating/versions.md "Schema").

import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { readStep } from '../../src/store/migrate/read-step.ts';
import { MIGRATION_NAMES } from '../../src/store/postgres/schema-version.ts';
import { lastRelease, RELEASES } from '../support/tests/releases.ts';
import { filesIn, ROOT } from '../support/tests/sources.ts';

const [, ...names] = MIGRATION_NAMES;
const unreleased = names.filter((name) => name > lastRelease().schema);
const readNamed = (name: string) =>
  readStep(readFileSync(join(ROOT, 'src/store/migrate/steps', `${name}.sql`), 'utf8'));

it('every file of the folder is a step, in order', () => {
  expect(
    filesIn('src/store/migrate/steps')
      .map((path) => basename(path, '.sql'))
      .sort(),
  ).toEqual(names);
});

it('each begins with a comment, which the plan of a migration prints', () => {
  expect(names.filter((name) => readNamed(name).about === '')).toEqual([]);
});

it('those after the last release only expand the schema, or remove what no version since an earlier release uses', () => {
  const faults = unreleased.flatMap((name) => {
    const { faults, contracts } = readNamed(name);
    const isReleased = RELEASES.some(({ version }) => version === contracts);
    return isReleased ? [] : faults.map((fault) => `${name}: ${fault}`);
  });
  expect(faults).toEqual([]);
});

it('those after the last release hold no lock while they read or write the rows of a table', () => {
  const slow = unreleased.flatMap((name) =>
    readNamed(name)
      .uses.filter(({ lock, work }) => lock !== 'none' && work !== 'none')
      .map(({ table, work }) => `${name}: ${work} of ${table}`),
  );
  expect(slow).toEqual([]);
});
