import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import type { Readiness } from '../../../src/process/listen-health.ts';
import { addProcessMetrics } from '../../../src/process/metrics/add-process-metrics.ts';

/** Returns the values of /metrics by name, for a process in this state. */
async function scrape(readiness: () => Readiness | Promise<Readiness>): Promise<Record<string, number>> {
  const registry = new Registry();
  addProcessMetrics(registry, readiness);
  const lines = (await registry.metrics()).split('\n').filter((line) => !/^(#|$)/.test(line));
  return Object.fromEntries(
    lines.map((line) => line.split(' ')).map(([name, value]) => [name, Number(value)]),
  );
}

it('reports whether the process is ready, and the number of its warnings', async () => {
  expect(await scrape(() => ({ kind: 'ready' }))).toMatchObject({
    zonefleet_ready: 1,
    zonefleet_readiness_warnings: 0,
  });
  expect(await scrape(async () => ({ kind: 'ready', warnings: ['a', 'b'] }))).toMatchObject({
    zonefleet_ready: 1,
    zonefleet_readiness_warnings: 2,
  });
  const waiting = { zonefleet_ready: 0, zonefleet_readiness_warnings: 0 };
  expect(await scrape(() => ({ kind: 'waiting', reason: 'no zones' }))).toMatchObject(waiting);
  expect(await scrape(() => Promise.reject(new Error('a bug')))).toMatchObject(waiting);
});

it('asks for the readiness once per scrape', async () => {
  let asked = 0;
  const registry = new Registry();
  addProcessMetrics(registry, () => {
    asked++;
    return { kind: 'ready' };
  });
  await registry.metrics();
  await registry.metrics();
  expect(asked).toBe(2);
});

it('reports the processor time, the start time and the open files of the process', async () => {
  const values = await scrape(() => ({ kind: 'ready' }));
  expect(values.process_cpu_seconds_total).toBeGreaterThan(0);
  expect(values.process_start_time_seconds).toBeCloseTo(Date.now() / 1000 - process.uptime(), -1);
  if (process.platform === 'linux') expect(values.process_open_fds).toBeGreaterThan(2);
});
