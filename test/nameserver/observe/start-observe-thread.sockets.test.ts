import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import { createObserver, type Observer } from '../../../src/nameserver/observe/start-observe-thread.ts';
import { sampleOctets } from '../../support/answer/samples.ts';
import { until } from '../../support/tests/until.ts';

let directory: string;
let path: string;
let observer: Observer;
let counters: QueryCounters;
let pending: Int32Array;
const log = pino({ level: 'silent' });

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-observer-'));
  path = join(directory, 'log');
  counters = new QueryCounters();
  const common = { dnstap: undefined, queryLogClient: 'full', nodeName: 'node-1', version: 'test' } as const;
  observer = createObserver({ ...common, queryLog: path, interval: 1, counters, log });
  pending = new Int32Array(observer.sampling.pending);
});
afterEach(async () => {
  await observer.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Posts samples as a sampler does. */
function post(
  count: number,
  octets = Buffer.concat(Array.from({ length: count }, () => sampleOctets())),
): void {
  const copy = new Uint8Array(octets);
  Atomics.add(pending, 0, copy.length);
  observer.post({ octets: copy, count });
}

const lines = () => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0);

it('the thread writes samples, releases their memory, and reopens its file', async () => {
  observer.start();
  post(3);
  await until(() => lines() === 3, 'three lines');
  await until(() => pending[0] === 0, 'the memory is released');
  renameSync(path, `${path}.1`);
  post(1);
  observer.reopen();
  post(2);
  await until(() => lines() === 2, 'two lines in the new file');
  expect(readFileSync(`${path}.1`, 'utf8').match(/\n/g)).toHaveLength(4);
  expect(counters.samplesLost).toBe(0);
});

it('samples are lost and counted while no thread runs, and a thread that ends is replaced', async () => {
  post(2);
  expect([counters.samplesLost, pending[0]]).toEqual([2, 0]);
  observer.start();
  const onTheirWay = new Uint8Array(sampleOctets());
  Atomics.add(pending, 0, onTheirWay.length);
  post(1, Buffer.alloc(8)); // not a sample: the thread ends
  await until(() => {
    if (lines() === 0) post(1);
    return lines() > 0;
  }, 'another thread writes');
  observer.post({ octets: onTheirWay, count: 1 });
  await until(() => pending[0] === 0, 'all memory is released');
  expect(observer.observed().linesUnwritten).toBe(0);
});
