import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  noteRestoring,
  noteStuck,
  readRestoreNote,
  removeRestoreNote,
  whyNotRead,
} from '../../../src/nameserver/snapshot/restore-note.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zf-note-'));
});
afterEach(() => {
  chmodSync(directory, 0o700);
  rmSync(directory, { recursive: true, force: true });
});

it('a snapshot may be read until reading it has not come to its end three times', () => {
  for (const wanted of [undefined, undefined, undefined, 'the process ended 3 times while it was read']) {
    expect(whyNotRead(readRestoreNote(directory), 4)).toBe(wanted);
    noteRestoring(directory, 4);
  }
});

it('the count restarts after a complete read, and for another generation', () => {
  for (let i = 0; i < 5; i++) noteRestoring(directory, 4);
  expect(whyNotRead(readRestoreNote(directory), 5)).toBeUndefined();
  noteRestoring(directory, 5);
  expect(readRestoreNote(directory)).toEqual({ generation: 5, attempts: 1, isStuck: false });
  removeRestoreNote(directory);
  expect(readdirSync(directory)).toEqual([]);
});

it('a reader that was ended because it stood still is enough', () => {
  noteStuck(directory); // nothing was being read
  expect(readRestoreNote(directory)).toBeUndefined();
  noteRestoring(directory, 4);
  noteStuck(directory);
  expect(whyNotRead(readRestoreNote(directory), 4)).toContain('stood still');
});

it('a note that is damaged, or cannot be written, is none', () => {
  for (const text of ['', 'x', '{}', 'null', '[]', '{"generation":"1","attempts":9}']) {
    writeFileSync(join(directory, 'restoring.json'), text);
    expect(readRestoreNote(directory)).toBeUndefined();
  }
  noteRestoring(join(directory, 'restoring.json', 'below a file'), 1);
});
