import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { createAnameMetrics } from '../../../workers/metrics/aname-metrics.ts';
import { targetEvidence } from '../../support/world/made-targets.ts';

test('look-ups are counted by outcome, and the domains that they changed are counted', async () => {
  const registry = new Registry();
  const count = createAnameMetrics(registry);
  const saved = (said: string, changed: number, fails?: string) =>
    count({
      kind: 'saved',
      target: 'web.example.net.',
      evidence: targetEvidence(parseName('web.example.net.'), said, 0),
      changed,
      fails,
      hasTurned: false,
    });
  saved('192.0.2.7', 5);
  saved('none', 2);
  saved('lame', 0, 'lame');
  count({ kind: 'deleted' });
  const lines = (await registry.metrics()).split('\n');
  for (const line of [
    'zonefleet_aname_lookups_total{outcome="found"} 1',
    'zonefleet_aname_lookups_total{outcome="none"} 1',
    'zonefleet_aname_lookups_total{outcome="failed"} 1',
    'zonefleet_aname_unsaved_total{reason="deleted"} 1',
    'zonefleet_aname_changes_total 7',
    'zonefleet_aname_seconds_count 3',
  ]) {
    expect(lines).toContain(line);
  }
});
