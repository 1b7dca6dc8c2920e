import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mayRead } from '../../src/process/run-as.ts';
import { placeProgram } from '../../src/start/place-program.ts';

const isRoot = process.getuid?.() === 0;
const USER = { uid: 61_001, gid: 61_002 };
let directory: string;
let root: string;
let place: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zf-place-'));
  chmodSync(directory, 0o755);
  [root, place] = [join(directory, 'checkout'), join(directory, 'place')];
  const packages = { 'node_modules/koffi': {}, 'node_modules/vitest': { dev: true } };
  const files: Record<string, string> = {
    ...{ 'package.json': '{}', 'package-lock.json': '{}', 'tsconfig.json': '{}', 'workers/main.ts': '1' },
    ...{ 'src/process/run-process.ts': '1', 'src/process/thread.mjs': '1' },
    'node_modules/.package-lock.json': JSON.stringify({ packages }),
    'node_modules/koffi/package.json': '{}',
    'node_modules/vitest/package.json': '{}',
    'node_modules/.cache/zonefleet/a': '{}',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe.skipIf(!isRoot)(`the program${isRoot ? '' : ' (skipped: needs root)'}`, () => {
  it('is read where it lies by a user who can, and where nobody else is to read it', () => {
    expect(placeProgram(root, USER, place)).toBe(root);
    chmodSync(root, 0o700);
    expect(placeProgram(root, undefined, place)).toBe(root);
    expect(existsSync(place)).toBe(false);
  });

  it.each([
    ['the checkout', ''],
    ['one of its files', 'src/process/run-process.ts'],
  ])('is copied once for a user who cannot read %s, without what only tests use', (_, closed) => {
    const path = join(root, closed);
    chmodSync(path, statSync(path).mode & 0o700);
    const copy = placeProgram(root, USER, place);
    expect(copy).not.toBe(root);
    for (const file of ['src/process/run-process.ts', 'workers/main.ts', 'node_modules/koffi/package.json'])
      expect(mayRead(join(copy, file), USER)).toBe(true);
    for (const name of ['vitest', '.cache']) expect(existsSync(join(copy, 'node_modules', name))).toBe(false);
    expect(placeProgram(root, USER, place)).toBe(copy);
  });

  it('is another copy when a file has changed: what runs keeps its own', () => {
    chmodSync(root, 0o700);
    const before = placeProgram(root, USER, place);
    writeFileSync(join(root, 'src/process/run-process.ts'), 'changed');
    const after = placeProgram(root, USER, place);
    expect(readFileSync(join(after, 'src/process/run-process.ts'), 'utf8')).toBe('changed');
    expect(readFileSync(join(before, 'src/process/run-process.ts'), 'utf8')).toBe('1');
  });

  it('is not placed where others than root may write', () => {
    chmodSync(root, 0o700);
    mkdirSync(place);
    chmodSync(place, 0o777);
    expect(() => placeProgram(root, USER, place)).toThrow('must be root’s'.replace('’', "'"));
  });
});
