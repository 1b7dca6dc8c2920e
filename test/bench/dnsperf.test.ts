// Parses the output of dnsperf.

import { expect, it } from 'vitest';
import { readOutcome } from '../../bench/dnsperf.ts';

const OUTPUT = `
Statistics:

  Queries sent:         406913
  Queries completed:    406913 (100.00%)
  Queries lost:         7 (0.00%)

  Response codes:       NOERROR 386560 (95.00%), NXDOMAIN 20353 (5.00%)
  Average packet size:  request 37, response 62
  Run time (s):         3.000123
  Queries per second:   135632.105750

  Average Latency (s):  0.001447 (min 0.000021, max 0.006105)
`;

it('the figures of a run are parsed', () => {
  expect(readOutcome(OUTPUT)).toEqual({
    sent: 406_913,
    completed: 406_913,
    lost: 7,
    seconds: 3.000123,
    queriesPerSecond: 135_632.10575,
    rcodes: { NOERROR: 95, NXDOMAIN: 5 },
    answerOctets: 62,
  });
});

it('a run without figures fails with its own message', () => {
  expect(() => readOutcome('Error: no such file')).toThrow(/no such file/);
});
