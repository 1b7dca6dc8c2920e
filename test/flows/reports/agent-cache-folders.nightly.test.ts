// Which files of nginx's cache the agent looks at again (agent/cache).

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

/** As nginx: beside its place, then there. */
const store = (path: string) => {
  writeFileSync(join(folder, `${path}.0000000001`), 'x');
  renameSync(join(folder, `${path}.0000000001`), join(folder, path));
};
/** All folders were changed at some time of long ago. */
const age = (seconds: number) => {
  for (const path of ['', '0', PLACE]) utimesSync(join(folder, path), seconds, seconds);
};
/** The files, with a `=` where they need no look. */
const look = async (folders: CacheFolders, isSettled: (path: string) => boolean = () => true) => {
  const found: string[] = [];
  for await (const { path, isSame } of folders.files()) found.push(isSame ? `=${path}` : path);
  folders.keep(isSettled);
  return found.sort();
};

describe('files of a cache', () => {
  it('are looked at once, until their folder changes: one that comes, is replaced, or goes', async () => {
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

  it('are looked at again while their folder was changed just now, and where one is not settled', async () => {
    const folders = new CacheFolders(folder);
    store(A);
    expect([await look(folders), await look(folders)]).toEqual([[A], [A]]);
    age(1_000);
    await look(folders, () => false);
    expect(await look(folders)).toEqual([A]);
    expect(await look(folders)).toEqual([`=${A}`]);
  });

  it('are found in folders that come later', async () => {
    const folders = new CacheFolders(folder);
    age(1_000);
    await look(folders);
    const place = `0/bb/${'c'.repeat(32)}`;
    mkdirSync(join(folder, '0/bb'));
    store(place);
    expect(await look(folders)).toEqual([place]);
  });
});
