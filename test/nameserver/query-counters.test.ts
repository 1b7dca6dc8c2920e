import { expect, test } from 'vitest';
import { RCODE } from '../../src/dns/rcodes.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { LATENCY_BOUNDS_SECONDS, QueryCounters } from '../../src/nameserver/query-counters.ts';

test('answers are counted by transport, type and rcode', () => {
  const counters = new QueryCounters();
  counters.countAnswer('udp', TYPE.A, RCODE.NOERROR, false);
  counters.countAnswer('udp', TYPE.A, RCODE.NOERROR, true);
  counters.countAnswer('tcp', TYPE.CAA, RCODE.NXDOMAIN, false);
  counters.countAnswer('tcp', TYPE.A, RCODE.BADCOOKIE, true);
  expect([...counters.answerCounts()]).toEqual([
    { transport: 'udp', type: 'A', rcode: 0, count: 2 },
    { transport: 'tcp', type: 'A', rcode: 23, count: 1 },
    { transport: 'tcp', type: 'CAA', rcode: 3, count: 1 },
  ]);
  expect([...counters.truncated]).toEqual([1, 1]);
});

test('types without a name of their own are counted together', () => {
  const counters = new QueryCounters();
  for (const type of [0, 3, 300, 511, 512, 65535]) counters.countAnswer('udp', type, RCODE.NOERROR, false);
  expect([...counters.answerCounts()]).toEqual([{ transport: 'udp', type: 'other', rcode: 0, count: 6 }]);
});

test('latencies fall into the bucket of their upper bound', () => {
  const counters = new QueryCounters();
  counters.observeLatency(0);
  counters.observeLatency(LATENCY_BOUNDS_SECONDS[1]!);
  counters.observeLatency(10);
  expect([...counters.latency]).toEqual([1, 1, ...Array(LATENCY_BOUNDS_SECONDS.length - 2).fill(0), 1]);
  expect(counters.latencySumSeconds).toBeCloseTo(10.00001);
});
