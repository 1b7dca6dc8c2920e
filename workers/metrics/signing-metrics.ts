// The Prometheus metrics of signed zones: signatures made, the remaining time of the oldest one, and faults.

import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { SigningState } from '../../src/store/signing/load-signing.ts';
import type { SigningOutcome } from '../rounds/sign-zones.ts';

interface SigningGauges {
  /** Rejects while Postgres cannot be reached. */
  state(): Promise<SigningState>;
  isBreakerOpen(): boolean;
}

interface SigningMetrics {
  count(outcome: SigningOutcome): void;
  countFault(): void;
}

export function createSigningMetrics(registry: Registry, gauges: SigningGauges): SigningMetrics {
  const registers = [registry];
  const made = new Counter({
    name: 'zonefleet_signatures_made_total',
    help: 'Signatures that this process refreshed before they expired.',
    registers,
  });
  const seconds = new Histogram({
    name: 'zonefleet_signing_seconds',
    help: 'Duration of the work on one zone, by what was done: refreshed, signed or unsigned in pieces.',
    labelNames: ['done'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 120],
    registers,
  });
  const failures = new Counter({
    name: 'zonefleet_signing_failures_total',
    help: 'Zones whose signatures could not be made, by reason: unreadable (their keys cannot be decrypted), or failed (another error). Each is retried.',
    labelNames: ['why'],
    registers,
  });
  // An alert does not see the first increment of a new series.
  for (const why of ['unreadable', 'failed']) failures.inc({ why }, 0);
  const faults = new Counter({
    name: 'zonefleet_signature_faults_total',
    help: 'Signed zones that were found not to verify, because of a bug or expired signatures. The log names them.',
    registers,
  });
  addGauges(registry, gauges);
  return {
    count(outcome) {
      if (outcome.kind === 'unreadable' || outcome.kind === 'failed') {
        failures.inc({ why: outcome.kind });
        return;
      }
      seconds.observe({ done: outcome.kind }, outcome.seconds);
      if (outcome.kind === 'refreshed') made.inc(outcome.made);
    },
    countFault: () => faults.inc(),
  };
}

/** Uses one statement per scrape. */
function addGauges(registry: Registry, gauges: SigningGauges): void {
  const registers = [registry];
  const zones = new Gauge({
    name: 'zonefleet_signed_zones',
    help: 'Zones with keys of the fleet, by phase. Missing while Postgres cannot be reached.',
    labelNames: ['phase'],
    registers,
  });
  new Gauge({
    name: 'zonefleet_signatures_left_seconds',
    help: 'Time until the first signature of all zones expires: of signed zones, and of zones that were loaded signed (verbatim). Below 7 days, something does not work.',
    labelNames: ['kind'],
    registers,
    async collect() {
      this.reset();
      zones.reset();
      const state = await gauges.state().catch(() => undefined);
      if (state === undefined) return;
      for (const [kind, left] of Object.entries(state.left)) this.set({ kind }, left);
      for (const [phase, count] of Object.entries(state.phases)) zones.set({ phase }, count);
    },
  });
  new Gauge({
    name: 'zonefleet_signing_stopped',
    help: '1 while this process makes no signatures, because those that it made do not verify.',
    registers,
    collect() {
      this.set(Number(gauges.isBreakerOpen()));
    },
  });
}
