// Describes the job that takes the steps with a signed domain's keys: its queue, metrics and log lines.

import { Counter, type Registry } from 'prom-client';
import { accountsInTurn } from '../../src/jobs/fill-queue.ts';
import { fillByClaims, type Job, type JobLog, type JobTools } from '../../src/jobs/job.ts';
import { groupKeyJobs, KEY_GROUP, type KeyJob, ROLL_KEYS } from '../../src/jobs/jobs.ts';
import { claimDueSteps } from '../../src/store/dnssec/due-steps.ts';
import { createKeyRoller, type KeyOutcome, type KeyRollerOptions } from '../jobs/roll-keys.ts';

/** Small, because each zone of a job may need 120 queries. */
const AT_ONCE = 10;
const ROOM = 40;

export function keyJob(
  { db, resolver, registry, shares, sendsMail }: JobTools,
  options: Pick<KeyRollerOptions, 'rules' | 'rollZskEveryMs'>,
): Job<KeyJob, KeyOutcome> {
  const [claim, claimLight] = accountsInTurn(
    (due) => claimDueSteps(db, due),
    (signedZoneId, turn): KeyJob => ({ signedZoneId, turn }),
  );
  return {
    kind: ROLL_KEYS,
    atOnce: AT_ONCE,
    open: (onOutcome) => createKeyRoller({ db, resolver, shares, sendsMail, ...options, onOutcome }),
    fill: fillByClaims({
      room: ROOM,
      claim,
      claimLight,
      group: { size: KEY_GROUP, merge: groupKeyJobs },
    }),
    count: createKeyMetrics(registry),
    log: logKeys,
  };
}

function createKeyMetrics(registry: Registry): (outcome: KeyOutcome) => void {
  const registers = [registry];
  const looks = new Counter({
    name: 'zonefleet_key_looks_total',
    help: 'Checks of the keys of signed domains, by result: saved, writing (a large zone is being signed), conflict (another change was saved meanwhile), absent (the domain is deleted).',
    labelNames: ['outcome'],
    registers,
  });
  const statuses = new Counter({
    name: 'zonefleet_key_statuses_total',
    help: 'Saved checks of keys, by the status of the domain and the cause that its next step waits for, or none.',
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
    help: "Checks of whether a domain's own answers validate, by result: ok, failed, strangers (keys that the database does not know).",
    labelNames: ['outcome'],
    registers,
  });
  preflights.inc({ outcome: 'strangers' }, 0); // an alert does not see the first increment of a new series
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

/** Logs steps, and servers whose answers do not validate. */
function logKeys(log: JobLog, outcome: KeyOutcome): void {
  if (outcome.kind !== 'saved') return;
  const { name, status, step, preflight } = outcome;
  if (step !== undefined) log.info({ domain: name, status, step }, 'a step with DNSSEC keys was taken');
  if (preflight?.hasStrangers === true)
    log.error({ domain: name }, 'nameservers show DNSKEY records of keys that the database does not know');
  else if (preflight?.failure !== undefined)
    log.warn({ domain: name, failure: preflight.failure }, 'the answers of a signed domain do not validate');
}
