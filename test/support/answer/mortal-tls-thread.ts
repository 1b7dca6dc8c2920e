// The TLS thread, which ends if a test makes the counter of failed queries negative.

import { workerData } from 'node:worker_threads';
import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import type { TlsThreadOptions } from '../../../src/nameserver/tls/messages.ts';

const counters = new QueryCounters((workerData as TlsThreadOptions).counters);
setInterval(() => {
  if (counters.failed >= 0) return;
  counters.failed = 0;
  throw new Error('the test ends the thread');
}, 5);
await import('../../../src/nameserver/tls/tls-thread.ts');
