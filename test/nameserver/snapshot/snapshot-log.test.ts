import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { LOG_ID_BYTES, readLog, SnapshotLog } from '../../../src/nameserver/snapshot/snapshot-log.ts';
import { scale } from '../../support/tests/scale.ts';

const ID = new Uint8Array(LOG_ID_BYTES).fill(7);
const HEAD_BYTES = 32;

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zf-log-'));
  file = join(directory, 'zones.1.log');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const name = (i: number) => parseName(`z${i}.example.`);

function write(from: number, to: number): void {
  const log = from === 0 ? SnapshotLog.create(file, ID) : SnapshotLog.goOn(file, statSync(file).size);
  for (let i = from; i < to; i++) log.append({ kind: 'removal', apex: name(i) });
  log.flush();
  expect(log.bytes).toBe(statSync(file).size);
  log.close();
}

function read(id = ID): { end: number | undefined; apexes: Name[] } {
  const apexes: Name[] = [];
  const end = readLog(file, id, (entry) => {
    if (entry.kind === 'removal') apexes.push(entry.apex);
  });
  return { end, apexes };
}

const names = (count: number) => Array.from({ length: count }, (_, i) => name(i));

describe('the log of a snapshot', () => {
  test('has what was appended, in that order, and is gone on with', () => {
    write(0, 10);
    write(10, 20);
    expect(read()).toEqual({ end: statSync(file).size, apexes: names(20) });
  });

  test('of another base is none', () => {
    write(0, 3);
    expect(read(new Uint8Array(LOG_ID_BYTES))).toEqual({ end: undefined, apexes: [] });
  });

  test('cut anywhere has the whole entries before the cut, and goes on behind them', () => {
    write(0, 5);
    const whole = readFileSync(file);
    const entryBytes = (whole.length - HEAD_BYTES) / 5;
    for (let length = HEAD_BYTES; length < whole.length; length += scale(1, 3)) {
      writeFileSync(file, whole);
      truncateSync(file, length);
      const count = Math.floor((length - HEAD_BYTES) / entryBytes);
      expect(read()).toEqual({ end: HEAD_BYTES + count * entryBytes, apexes: names(count) });
      const log = SnapshotLog.goOn(file, HEAD_BYTES + count * entryBytes);
      log.append({ kind: 'removal', apex: name(count) });
      log.flush();
      log.close();
      expect(read().apexes).toEqual(names(count + 1));
    }
  });

  test('is not touched by whoever may go on with it and writes nothing', () => {
    write(0, 5);
    const whole = readFileSync(file);
    SnapshotLog.goOn(file, HEAD_BYTES).close();
    expect(readFileSync(file)).toEqual(whole);
  });

  test('with any byte changed ends before the entry that it is in', () => {
    write(0, 5);
    const whole = readFileSync(file);
    const entryBytes = (whole.length - HEAD_BYTES) / 5;
    for (let at = HEAD_BYTES; at < whole.length; at++) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] as number) ^ 0x40;
      writeFileSync(file, damaged);
      expect(read().apexes).toEqual(names(Math.floor((at - HEAD_BYTES) / entryBytes)));
    }
  });

  test('that a crash filled up with zeros ends before them', () => {
    write(0, 5);
    appendFileSync(file, Buffer.alloc(5000));
    expect(read().apexes).toEqual(names(5));
  });

  test('larger than one read takes is read whole', () => {
    const log = SnapshotLog.create(file, ID);
    const rdata = new Uint8Array(60_000).fill(3);
    const record = { owner: name(1), type: 65280, ttl: 1, rdata };
    for (let i = 0; i < 40; i++) {
      const records = Array.from({ length: i === 20 ? 150 : 3 }, () => record);
      log.append({ kind: 'zone', apex: name(i), content: { id: i, version: i, mark: i }, records });
    }
    log.flush();
    log.close();
    const seen: number[] = [];
    readLog(file, ID, (entry) => {
      if (entry.kind === 'zone') seen.push(entry.content.id * 1000 + entry.records.length);
    });
    expect(seen).toEqual(Array.from({ length: 40 }, (_, i) => i * 1000 + (i === 20 ? 150 : 3)));
  });
});
