import { expect, test } from 'vitest';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import {
  LATENCY_BOUNDS_SECONDS,
  QueryCounters,
  sumCounters,
} from '../../../src/nameserver/answer/query-counters.ts';

test('answers are counted by transport, type and rcode', () => {
  const counters = new QueryCounters();
  counters.countAnswer(0, TYPE.A, RCODE.NOERROR, false);
  counters.countAnswer(0, TYPE.A, RCODE.NOERROR, true);
  counters.countAnswer(1, TYPE.CAA, RCODE.NXDOMAIN, false);
  counters.countAnswer(1, TYPE.A, RCODE.BADCOOKIE, true);
  expect([...counters.answerCounts()]).toEqual([
    { transport: 'udp', type: 'A', rcode: 0, count: 2 },
    { transport: 'tcp', type: 'A', rcode: 23, count: 1 },
    { transport: 'tcp', type: 'CAA', rcode: 3, count: 1 },
  ]);
  expect([...counters.truncated]).toEqual([1, 1]);
});

test('answers with signatures are counted with their proofs', () => {
  const counters = new QueryCounters();
  counters.countSigned(2, false);
  counters.countSigned(0, true);
  expect(sumCounters([counters, counters]).signed).toEqual({ answers: 4, truncated: 2, proofs: 4 });
});

test('latencies fall into the bucket of their upper bound', () => {
  const counters = new QueryCounters();
  counters.observeLatency(0);
  counters.observeLatency(LATENCY_BOUNDS_SECONDS[1]!);
  counters.observeLatency(10);
  expect([...counters.latency]).toEqual([1, 1, ...Array(LATENCY_BOUNDS_SECONDS.length - 2).fill(0), 1]);
  expect(counters.latencySumSeconds).toBeCloseTo(10.00001);
});

test('counters of several threads are summed, those of one buffer are one', () => {
  const one = new QueryCounters();
  const two = new QueryCounters();
  const same = new QueryCounters(two.buffer);
  one.countAnswer(0, TYPE.A, RCODE.NOERROR, true);
  two.countAnswer(0, TYPE.A, RCODE.NOERROR, false);
  same.countAnswer(0, TYPE.A, RCODE.NOERROR, false);
  same.ignored += 2;
  two.failed++;
  const sum = sumCounters([one, two]);
  expect([...sum.answerCounts()]).toEqual([{ transport: 'udp', type: 'A', rcode: 0, count: 3 }]);
  expect(sum).toMatchObject({ ignored: 2, failed: 1, unsent: 0 });
  expect([...sum.truncated]).toEqual([1, 0]);
  expect(one.ignored).toBe(0);
});
