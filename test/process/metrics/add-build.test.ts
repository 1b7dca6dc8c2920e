import { expect, it } from 'vitest';
import { createApiMetrics } from '../../../src/api/metrics.ts';
import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import { createMetrics } from '../../../src/nameserver/metrics/metrics.ts';
import { readBuild } from '../../../src/process/build.ts';
import { createWorkerMetrics } from '../../../workers/metrics/metrics.ts';
import { createObserverMetrics } from '../../../workers/observer/metrics.ts';

it.each([
  ['nameserver', createMetrics(() => new QueryCounters(), {} as never)],
  ['api', createApiMetrics().registry],
  ['workers', createWorkerMetrics({} as never).registry],
  ['observer', createObserverMetrics({} as never).registry],
])('the metrics of %s have its version and commit', async (process, registry) => {
  const { version, commit = '' } = readBuild();
  expect(await registry.getSingleMetricAsString('zonefleet_build_info')).toContain(
    `zonefleet_build_info{version="${version}",commit="${commit}",process="${process}"} 1`,
  );
});
