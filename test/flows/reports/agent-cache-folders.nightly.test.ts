// Which files of nginx's cache the agent reads again (agent/cache).

import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CacheFolders } from '../../../agent/cache/cache-folders.mjs';

const PLACE = '0/aa';
const [A, B] = [`${PLACE}/${'a'.repeat(32)}`, `${PLACE}/${'b'.repeat(32)}`];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'zonefleet-cache-folders-'));
  mkdirSync(join(folder, PLACE), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes next to the path, then renames, as nginx does. */
const store = (path: string) => {
  writeFileSync(join(folder, `${path}.0000000001`), 'x');
  renameSync(join(folder, `${path}.0000000001`), join(folder, path));
};
/** Sets the time of change of all folders to long ago. */
const age = (seconds: number) => {
  for (const path of ['', '0', PLACE]) utimesSync(join(folder, path), seconds, seconds);
};
/** Returns the files, with a `=` if they need not be read. */
const look = async (folders: CacheFolders, isSettled: (path: string) => boolean = () => true) => {
  const found: string[] = [];
  for await (const { path, isSame } of folders.files()) found.push(isSame ? `=${path}` : path);
  folders.keep(isSettled);
  return found.sort();
};

describe('files of a cache', () => {
  it('are read once until their folder changes: when a file is added, replaced or deleted', async () => {
    const folders = new CacheFolders(folder);
    store(A);
    age(1_000);
    expect([await look(folders), await look(folders)]).toEqual([[A], [`=${A}`]]);
    store(B);
    expect(await look(folders)).toEqual([A, B]);
    age(2_000);
    expect([await look(folders), await look(folders)]).toEqual([
      [A, B],
      [`=${A}`, `=${B}`],
    ]);
    store(A);
    expect(await look(folders)).toEqual([A, B]);
    age(3_000);
    await look(folders);
    rmSync(join(folder, B));
    expect(await look(folders)).toEqual([A]);
    rmSync(folder, { recursive: true });
    expect(await look(folders)).toEqual([]);
  });

  it('are read again if their folder changed just now, or if one of them is incomplete', async () => {
    const folders = new CacheFolders(folder);
    store(A);
    expect([await look(folders), await look(folders)]).toEqual([[A], [A]]);
    age(1_000);
    await look(folders, () => false);
    expect(await look(folders)).toEqual([A]);
    expect(await look(folders)).toEqual([`=${A}`]);
  });

  it('are found in folders that are created later', async () => {
    const folders = new CacheFolders(folder);
    age(1_000);
    await look(folders);
    const place = `0/bb/${'c'.repeat(32)}`;
    mkdirSync(join(folder, '0/bb'));
    store(place);
    expect(await look(folders)).toEqual([place]);
  });
});
