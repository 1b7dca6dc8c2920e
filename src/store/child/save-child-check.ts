// Saves a check of the delegated zone: the newest takes the place of the one before. It never touches the domain's row.

import { sql } from 'kysely';
import type { ChildFinding } from '../../checks/child/child-findings.ts';
import type { ChildEvidence } from '../../checks/child/evidence.ts';
import type { Database } from '../postgres/database.ts';
import { encodeChildEvidence, encodeChildFinding } from './child-check-row.ts';

interface ChildCheckOrder {
  readonly domainId: number;
  /** The delegation that was wanted when the check began; another one that is wanted since then stays due. */
  readonly wantedNs: readonly string[];
  readonly evidence: ChildEvidence;
  readonly findings: readonly ChildFinding[];
  /** Milliseconds since 1970. */
  readonly nextAt: number;
}

export async function saveChildCheck(db: Database, order: ChildCheckOrder): Promise<void> {
  const { domainId, wantedNs, evidence, findings, nextAt } = order;
  await sql`
    update child_checks set ns = ${wantedNs}::text[], checked_at = ${new Date(evidence.finishedAt)},
      findings = ${JSON.stringify(findings.map(encodeChildFinding))}::jsonb,
      evidence = ${JSON.stringify(encodeChildEvidence(evidence))}::jsonb, queries = ${evidence.queries},
      due_at = case when wanted_ns = ${wantedNs}::text[] then ${new Date(nextAt)}::timestamptz else due_at end
    where domain_id = ${domainId}`.execute(db);
}

/** The domain is gone, or is delegated to nobody: its zone is due again when a check shows another delegation. */
export async function endChildChecks(db: Database, domainId: number): Promise<void> {
  await sql`update child_checks set due_at = null where domain_id = ${domainId}`.execute(db);
}
