import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { openAnameJob } from '../../../src/features/aname/job.ts';
import type { WorkTools } from '../../../src/features/feature.ts';
import { targetEvidence } from '../../support/world/made-targets.ts';

test('ANAME lookups are counted by outcome, with the domains that they changed', async () => {
  const registry = new Registry();
  const { count } = openAnameJob({ registry } as WorkTools);
  const target = 'web.example.net.';
  const saved = (said: string, changed: number, fails?: string) => {
    const evidence = targetEvidence(parseName(target), said, 0);
    count({ kind: 'saved', target, evidence, changed, fails, hasTurned: false });
  };
  saved('192.0.2.7', 5);
  saved('none', 2);
  saved('lame', 0, 'lame');
  count({ kind: 'deleted' });
  expect((await registry.metrics()).split('\n')).toEqual(
    expect.arrayContaining([
      'zonefleet_aname_lookups_total{outcome="found"} 1',
      'zonefleet_aname_lookups_total{outcome="none"} 1',
      'zonefleet_aname_lookups_total{outcome="failed"} 1',
      'zonefleet_aname_unsaved_total{reason="deleted"} 1',
      'zonefleet_aname_changes_total 7',
      'zonefleet_aname_seconds_count 3',
    ]),
  );
});
