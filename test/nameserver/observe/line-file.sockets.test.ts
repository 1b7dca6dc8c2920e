import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LineFile } from '../../../src/nameserver/observe/line-file.ts';

/** Octets that the disk still has space for. */
const disk = vi.hoisted(() => ({ space: Number.POSITIVE_INFINITY }));
vi.mock('node:fs', async (load) => {
  const real = await load<typeof import('node:fs')>();
  return {
    ...real,
    writeSync(file: number, octets: Buffer, at: number) {
      const length = Math.min(octets.length - at, disk.space);
      if (length === 0) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      disk.space -= length;
      return real.writeSync(file, octets, at, length);
    },
  };
});

let directory: string;
let path: string;
let file: LineFile;
let dropped: number;
let nowMs: number;
let logged: string[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-lines-'));
  path = join(directory, 'log');
  [dropped, nowMs, logged, disk.space] = [0, 0, [], Number.POSITIVE_INFINITY];
});
afterEach(() => {
  file.close();
  rmSync(directory, { recursive: true, force: true });
});

function open(): void {
  const record = (_: object, message: string) => void logged.push(message);
  const log = { debug: record, info: record, warn: record, error: record };
  file = new LineFile(
    path,
    (lines) => {
      dropped += lines;
    },
    log,
    () => nowMs,
  );
}

const write = (lines: string) => file.write(Buffer.from(lines));
const read = (from = path) => readFileSync(from, 'utf8');
const WRITE_FAILED = 'QUERY_LOG: the file cannot be written, and lines are dropped until it can';

describe('a file of lines', () => {
  it('drops whole lines while the disk is full, and completes a line that was written in part', () => {
    open();
    write('one\n');
    disk.space = 6;
    write('two\nthree\nfour\n');
    write('five\n');
    expect([read(), dropped]).toEqual(['one\ntwo\nth', 2]);
    disk.space = Number.POSITIVE_INFINITY;
    write('six\n');
    expect([read(), dropped]).toEqual(['one\ntwo\nthree\nsix\n', 2]);
    expect(logged).toEqual([WRITE_FAILED, 'QUERY_LOG: lines are written again']);
  });

  it('completes a line in several parts, and does not drop a line that ends where the disk is full', () => {
    open();
    disk.space = 4;
    write('one\ntwo\n');
    disk.space = 2;
    write('three\n');
    disk.space = 1;
    write('four\n');
    disk.space = Number.POSITIVE_INFINITY;
    write('five\n');
    expect([read(), dropped]).toEqual(['one\nthree\nfive\n', 2]);
  });

  it('begins with a whole line after the file was truncated', () => {
    open();
    disk.space = 2;
    file.write(Buffer.from('one\n'));
    disk.space = Number.POSITIVE_INFINITY;
    truncateSync(path);
    file.write(Buffer.from('two\n'));
    expect([readFileSync(path, 'latin1'), dropped]).toEqual(['two\n', 1]);
  });

  it('logs at most one error per minute', () => {
    open();
    disk.space = 0;
    for (; nowMs < 150_000; nowMs += 1000) write('x\n');
    expect([logged, dropped]).toEqual([[WRITE_FAILED, WRITE_FAILED, WRITE_FAILED], 150]);
  });

  it('writes to the renamed file until it is reopened, and then to a new one', () => {
    open();
    write('one\n');
    renameSync(path, `${path}.1`);
    write('two\n');
    file.reopen();
    write('three\n');
    expect([read(`${path}.1`), read(), dropped]).toEqual(['one\ntwo\n', 'three\n', 0]);
  });

  it('uses the old file while the new one cannot be opened, and tries again every second', () => {
    open();
    renameSync(path, `${path}.1`);
    mkdirSync(path);
    file.reopen();
    write('one\n');
    expect(logged).toEqual([expect.stringContaining('lines go to the old file')]);
    rmSync(path, { recursive: true });
    nowMs = 999;
    write('two\n');
    nowMs = 1000;
    write('three\n');
    expect([read(`${path}.1`), read(), dropped]).toEqual(['one\ntwo\n', 'three\n', 0]);
  });

  it('drops lines until a missing folder exists', () => {
    path = join(directory, 'folder', 'log');
    open();
    write('one\ntwo\n');
    mkdirSync(join(directory, 'folder'));
    nowMs = 1000;
    write('three\n');
    expect([read(), dropped]).toEqual(['three\n', 2]);
    expect(logged[0]).toBe('QUERY_LOG: the file cannot be opened, and lines are dropped until it can');
  });

  it('counts the rest of a line that it could not complete, and begins after such a rest', () => {
    open();
    disk.space = 2;
    write('one\n');
    file.close();
    expect([read(), dropped]).toEqual(['on', 1]);
    disk.space = Number.POSITIVE_INFINITY;
    open();
    write('two\n');
    expect(read()).toBe('on\ntwo\n');
  });

  it('does not wait for the reader of a full pipe', () => {
    execFileSync('mkfifo', [path]);
    open();
    for (let i = 0; i < 200; i++) write(`${'x'.repeat(1023)}\n`);
    expect(dropped).toBeGreaterThan(100);
  });
});
