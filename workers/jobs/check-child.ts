// One check of a delegated zone: observe, evaluate, save. Its findings are advice, on which no status depends.
//
//   load ─▶ observe ─▶ judge ─▶ save ─▶ saved
//     └ deleted, or not delegated ─▶ absent

import type { ChildFinding } from '../../src/checks/child/child-findings.ts';
import type { ChildEvidence } from '../../src/checks/child/evidence.ts';
import { judgeChild } from '../../src/checks/child/judge-child.ts';
import { nextChildCheckAt } from '../../src/checks/child/next-child-check-at.ts';
import type { AsnOf } from '../../src/checks/child/observation.ts';
import { printName } from '../../src/dns/name.ts';
import { DatabaseWatch } from '../../src/jobs/database-watch.ts';
import type { RunJob } from '../../src/jobs/job-worker.ts';
import type { ChildJob } from '../../src/jobs/jobs.ts';
import type { Resolver } from '../../src/resolver/resolver.ts';
import { endChildChecks, saveChildCheck } from '../../src/store/checks/child-checks.ts';
import { loadChildDomain } from '../../src/store/checks/due-child-checks.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { loadHeldZone } from '../../src/store/zones/load-zones.ts';

export type ChildOutcome =
  | {
      readonly kind: 'saved';
      readonly name: string;
      readonly evidence: ChildEvidence;
      readonly findings: readonly ChildFinding[];
    }
  | { readonly kind: 'absent' };

interface ChildCheckerOptions {
  readonly db: Database;
  readonly resolver: Pick<Resolver, 'observeChild'>;
  readonly asnOf: AsnOf | undefined;
  readonly onOutcome: (outcome: ChildOutcome) => void;
  /** Returns a number in [0, 1). */
  readonly random?: () => number;
}

export function createChildChecker(options: ChildCheckerOptions): RunJob<ChildJob> {
  const database = new DatabaseWatch(options.db);
  return async (job, { signal }) => {
    options.onOutcome(await database.steadily(signal, () => check(options, job, signal)));
  };
}

async function check(
  { db, resolver, asnOf, random = Math.random }: ChildCheckerOptions,
  { domainId }: ChildJob,
  signal: AbortSignal,
): Promise<ChildOutcome> {
  const domain = await loadChildDomain(db, domainId);
  if (domain === undefined) {
    await endChildChecks(db, domainId);
    return { kind: 'absent' };
  }
  const { name, ownServers, wantedNs, isActive } = domain;
  // If this fleet serves the parent, its own answer would prove nothing, so the delegation is read from Postgres.
  const held = await loadHeldZone(db, name);
  const evidence = await resolver.observeChild(name, {
    signal,
    own: ownServers.map((server) => [server]),
    given: held?.cut === name ? held : undefined,
  });
  signal.throwIfAborted(); // an aborted run has no outcome
  const findings = judgeChild(evidence, { own: new Set(ownServers), asnOf });
  const nextAt = nextChildCheckAt(evidence.finishedAt, isActive, random());
  await saveChildCheck(db, { domainId, wantedNs, evidence, findings, nextAt });
  return { kind: 'saved', name: printName(name), evidence, findings };
}
