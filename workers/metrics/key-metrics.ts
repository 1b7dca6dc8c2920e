// The Prometheus metrics of the keys of signed domains: looks, steps, and what they wait for.

import { Counter, type Registry } from 'prom-client';
import type { KeyOutcome } from '../jobs/roll-keys.ts';

export function createKeyMetrics(registry: Registry): (outcome: KeyOutcome) => void {
  const registers = [registry];
  const looks = new Counter({
    name: 'zonefleet_key_looks_total',
    help: 'Looks at the keys of signed domains, by how they ended: saved, writing (a large zone is being signed), conflict (something else was saved meanwhile), absent (the domain is deleted).',
    labelNames: ['outcome'],
    registers,
  });
  const statuses = new Counter({
    name: 'zonefleet_key_statuses_total',
    help: 'Looks that were saved, by the status of the domain and by what its next step waits for; none: it waits for nothing.',
    labelNames: ['status', 'waiting'],
    registers,
  });
  const steps = new Counter({
    name: 'zonefleet_key_steps_total',
    help: 'Steps taken with the keys of signed domains, by kind.',
    labelNames: ['step'],
    registers,
  });
  const preflights = new Counter({
    name: 'zonefleet_key_preflights_total',
    help: "Checks whether a domain's own answers validate, by outcome: ok, failed, strangers (keys that the database does not know).",
    labelNames: ['outcome'],
    registers,
  });
  return (outcome) => {
    looks.inc({ outcome: outcome.kind });
    if (outcome.kind !== 'saved') return;
    const { status, waiting, step, preflight } = outcome;
    statuses.inc({ status, waiting: waiting?.cause ?? 'none' });
    if (step !== undefined) steps.inc({ step });
    if (preflight === undefined) return;
    const { hasStrangers, failure } = preflight;
    preflights.inc({ outcome: hasStrangers ? 'strangers' : failure === undefined ? 'ok' : 'failed' });
  };
}
