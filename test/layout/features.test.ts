// The core does not use features' tables, and every table belongs to one list of privileges.

import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { FEATURES } from '../../src/features/every-feature.ts';
import { CORE_PRIVILEGES } from '../../src/store/roles/role-privileges.ts';
import { featureOf, filesIn, offenders, ownImports, ROOT } from '../support/tests/sources.ts';

/** Statements of the core that name a table of a feature, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/store/accounts/accounts.ts: wallets': 'an account in debt cannot change its reseller',
};
/** Later changes of the schema, and the types of all tables, name every table. */
const OF_ALL = /^src\/store\/(migrate\/steps|postgres\/tables)\//;
/** The features whose files and tables a feature may use. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  uptime: ['webhooks'],
  resellers: ['money'],
  secondaries: ['transfers'],
  catalogs: ['transfers', 'secondaries'],
  pdns: ['transfers', 'secondaries', 'updates'],
};

const tablesOf = (name: string) =>
  Object.keys(FEATURES.find((one) => one.name === name)?.privileges.tables ?? {});

/** Returns the tables that the SQL of a file names, out of these. */
function named(path: string, tables: readonly string[]): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return tables.filter((table) =>
    new RegExp(
      `\\b(from|join|into|update|using|table|references|on)\\s+(only )?${table}\\b(?! \\w+ing)`,
    ).test(text),
  );
}

it('only its own folder, every-feature.ts and features that may use it import a feature', () => {
  const found = offenders((source) =>
    ownImports(source).filter((target) => {
      const feature = featureOf(target);
      const importer = featureOf(source.path);
      if (feature === undefined || feature === importer) return false;
      if (source.path === 'src/features/every-feature.ts') return basename(target) !== 'feature.ts';
      return importer === undefined || !MAY_USE[importer]?.includes(feature);
    }),
  );
  expect(found).toEqual([]);
});

it('no file of the core names a table of a feature', () => {
  const tables = FEATURES.flatMap(({ privileges }) => Object.keys(privileges.tables));
  const files = filesIn('src/store').filter((path) => /\.(ts|sql)$/.test(path) && !OF_ALL.test(path));
  const found = files.flatMap((path) => named(path, tables).map((table) => `${path}: ${table}`));
  expect(found).toEqual(Object.keys(EXCEPTIONS));
});

it.each(
  FEATURES.map(({ name }) => name),
)('%s names tables only of itself and of features that it imports', (name) => {
  const others = FEATURES.filter((one) => one.name !== name && !MAY_USE[name]?.includes(one.name));
  const tables = others.flatMap((other) => tablesOf(other.name));
  const found = filesIn(`src/features/${name}`).flatMap((path) =>
    named(path, tables).map((table) => `${path}: ${table}`),
  );
  expect(found).toEqual([]);
});

it.each(FEATURES)('$name has a folder of its name, and lists its SQL files', ({ name, schema = [] }) => {
  for (const file of ['feature.ts', ...schema])
    expect([file, existsSync(join(ROOT, 'src/features', name, file))]).toEqual([file, true]);
});

it.each(FEATURES)('$name deletes old rows only of its own tables, where workers may delete', (feature) => {
  for (const table of Object.keys(feature.retention ?? {}))
    expect([table, feature.privileges.tables[table]?.worker]).toEqual([table, expect.stringContaining('d')]);
});

it('a table belongs to the core or to one feature', () => {
  const lists = [CORE_PRIVILEGES, ...FEATURES.map(({ privileges }) => privileges)];
  const tables = lists.flatMap((each) => Object.keys(each.tables));
  expect(tables.filter((table, i) => tables.indexOf(table) !== i)).toEqual([]);
});

it('no two features write the same kind of mail, run the same queue, delete rows of one table or describe one tag', () => {
  const contributed = FEATURES.flatMap(({ letters, queues = [], retention, tags, adminTags }) => [
    ...Object.keys(letters ?? {}).map((kind) => `mail ${kind}`),
    ...queues.map(({ queue }) => `queue ${queue}`),
    ...Object.keys(retention ?? {}).map((table) => `rows of ${table}`),
    ...Object.keys(tags ?? {}).map((tag) => `tag ${tag}`),
    ...Object.keys(adminTags ?? {}).map((tag) => `admin tag ${tag}`),
  ]);
  expect(contributed.filter((each, i) => contributed.indexOf(each) !== i)).toEqual([]);
});
