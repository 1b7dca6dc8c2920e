// A thread that counts answers of many zones as fast as it can, while another takes the counts. It first waits for a
// message, so that the other thread does not take counts while this one loads.

import { parentPort, workerData } from 'node:worker_threads';
import { ZoneCounts } from '../../../src/nameserver/counts/zone-counts.ts';

export interface CountingWork {
  readonly buffer: SharedArrayBuffer;
  readonly rounds: number;
  readonly zones: number;
}

const { buffer, rounds, zones } = workerData as CountingWork;
const counts = new ZoneCounts(buffer);
const id = new Float64Array(1);
const words = new Int32Array(id.buffer);
parentPort?.once('message', () => {
  for (let round = 0; round < rounds; round++) {
    for (let zone = 1; zone <= zones; zone++) {
      id[0] = zone;
      counts.count(words[0] as number, words[1] as number, 1, round % 2);
    }
  }
  parentPort?.postMessage('done');
});
parentPort?.postMessage('ready');
