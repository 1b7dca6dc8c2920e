import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeWholeFile } from '../../../src/cli/terminal/write-whole-file.ts';
import { makeZoneFolder, type ZoneFolder } from '../../support/zone/zone-folder.ts';

let folder: ZoneFolder;
const going = new AbortController().signal;

beforeEach(() => {
  folder = makeZoneFolder();
});
afterEach(() => folder.remove());

it('a file is replaced by the new content and nothing is left beside it', async () => {
  const file = folder.write('a.zone', 'old');
  expect(await writeWholeFile(file, ['new ', 'content'], going)).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe('new content');
  expect(readdirSync(folder.path)).toEqual(['a.zone']);
});

it('an interrupt or an error in between leaves the file as it was', async () => {
  const file = folder.write('a.zone', 'old');
  const interrupt = new AbortController();
  function* stopping() {
    yield 'new ';
    interrupt.abort();
    yield 'content';
  }
  expect(await writeWholeFile(file, stopping(), interrupt.signal)).toBe(false);
  function* breaking() {
    yield 'new ';
    throw new Error('broken');
  }
  await expect(writeWholeFile(file, breaking(), going)).rejects.toThrow('broken');
  expect(readFileSync(file, 'utf8')).toBe('old');
  expect(readdirSync(folder.path)).toEqual(['a.zone']);
});

it('a symbolic link stays one, and its target is replaced', async () => {
  const target = folder.write('target', 'old');
  const link = join(folder.path, 'link');
  symlinkSync(target, link);
  await writeWholeFile(link, ['new'], going);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(target, 'utf8')).toBe('new');
});

it('what cannot be written is a failure that names the file', async () => {
  const inside = join(folder.path, 'no-folder/a.zone');
  await expect(writeWholeFile(inside, ['x'], going)).rejects.toMatchObject({
    code: 'file',
    message: `${inside}: no such file`,
  });
  mkdirSync(join(folder.path, 'folder'));
  await expect(writeWholeFile(join(folder.path, 'folder'), ['x'], going)).rejects.toThrow(
    'not a regular file',
  );
});
