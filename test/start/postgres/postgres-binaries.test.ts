import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { embeddedBinaries, majorOf, placeBinaries } from '../../../src/start/postgres/postgres-binaries.ts';

let directory: string;
let native: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zf-binaries-'));
  native = join(directory, 'package/native');
  for (const part of ['bin', 'lib']) mkdirSync(join(native, part), { recursive: true });
  for (const program of ['bin/postgres', 'bin/initdb'])
    writeFileSync(join(native, program), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(join(native, 'lib/libpq.so.5.18'), 'library', { mode: 0o600 });
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }];
  writeFileSync(join(native, 'pg-symlinks.json'), JSON.stringify(links));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const packaged = () => ({ directory: native, major: 18, packaged: '18.0.0-test' });

describe('the packaged Postgres', () => {
  it('exists for this platform in version 18, and an ordinary user runs it in place, with the links that npm omits', () => {
    const binaries = embeddedBinaries();
    expect(majorOf(binaries)).toBe(18);
    expect(existsSync(join(binaries.directory, 'bin/postgres'))).toBe(true);
    expect(placeBinaries(packaged(), {}, join(directory, 'data'))).toBe(native);
    expect(readlinkSync(join(native, 'lib/libpq.so.5'))).toBe('libpq.so.5.18');
    expect(placeBinaries(packaged(), {}, join(directory, 'data'))).toBe(native);
    expect(existsSync(join(directory, 'data'))).toBe(false);
  });

  it('is copied once next to the cluster if it cannot be used in place, readable for everyone', () => {
    chmodSync(join(native, 'bin/initdb'), 0o644);
    const copy = placeBinaries(packaged(), {}, join(directory, 'data'));
    expect(copy).toBe(join(directory, 'data/postgres-18.0.0-test'));
    expect(readFileSync(join(copy, 'lib/libpq.so.5'), 'utf8')).toBe('library');
    writeFileSync(join(copy, 'mark'), '');
    expect(placeBinaries(packaged(), {}, join(directory, 'data'))).toBe(copy);
    expect(existsSync(join(copy, 'mark'))).toBe(true);
  });

  it('replaces the remains of an interrupted copy', () => {
    chmodSync(join(native, 'bin/initdb'), 0o644);
    const part = join(directory, 'data/postgres-18.0.0-test.part-4194305');
    mkdirSync(part, { recursive: true });
    placeBinaries(packaged(), {}, join(directory, 'data'));
    expect(existsSync(part)).toBe(false);
  });
});

describe('another Postgres', () => {
  it('is used in place', () => {
    expect(placeBinaries({ directory: '/opt/postgres' }, {}, directory)).toBe('/opt/postgres');
  });

  it('is queried for its version', () => {
    writeFileSync(
      join(native, 'bin/postgres'),
      '#!/bin/sh\necho "postgres (PostgreSQL) 15.20 (Debian 15.20-0)"\n',
    );
    expect(majorOf({ directory: native })).toBe(15);
  });
});
