import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findZoneFiles } from '../../../src/cli/terminal/find-zone-files.ts';
import { makeZoneFolder, type ZoneFolder } from '../../support/zone/zone-folder.ts';

let folder: ZoneFolder;
let at: (name: string) => string;

beforeAll(() => {
  folder = makeZoneFolder();
  at = (name) => join(folder.path, name);
  for (const name of ['b.zone', 'a.zone', 'notes.txt', 'a.zone.bak', '.hidden.zone']) folder.write(name, '');
  mkdirSync(at('folder.zone'));
  mkdirSync(at('empty'));
  symlinkSync(at('a.zone'), at('again.zone'));
  symlinkSync(at('gone'), at('dangling.zone'));
});
afterAll(() => folder.remove());

it('a folder means each *.zone directly in it, in order, and a file that two links lead to counts once', () => {
  const found = findZoneFiles([folder.path]);
  expect(found.files.map(({ name }) => name)).toEqual([at('.hidden.zone'), at('a.zone'), at('b.zone')]);
  expect(found.problems).toEqual([{ path: at('dangling.zone'), message: 'no such file' }]);
});

it('a file is itself, whatever it is called, and comes once when it is named twice', () => {
  const found = findZoneFiles([at('notes.txt'), at('empty/../notes.txt'), '-', '-']);
  expect(found.files).toEqual([
    { name: at('notes.txt'), path: at('notes.txt') },
    { name: '-', path: undefined },
  ]);
});

it('a path without zone files is a problem, and keeps no other from being found', () => {
  const found = findZoneFiles([at('missing'), at('empty'), at('b.zone')]);
  expect(found.files.map(({ name }) => name)).toEqual([at('b.zone')]);
  expect(found.problems).toEqual([
    { path: at('missing'), message: 'no such file' },
    { path: at('empty'), message: 'no *.zone file in this folder' },
  ]);
});
