// Loads the newest check of a domain's own zone, for those who may see the domain.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNames, type JsonChildEvidence, type JsonChildFinding } from './child-check-row.ts';

export interface SavedChildCheck {
  readonly checkedAt: Date;
  readonly queries: number;
  readonly findings: readonly (Omit<JsonChildFinding, 'names'> & { readonly names: readonly Name[] })[];
  readonly evidence: JsonChildEvidence;
}

/** Undefined before the first one. */
export async function loadChildCheck(db: Database, domainId: number): Promise<SavedChildCheck | undefined> {
  const { rows } = await sql<ChildCheckRow>`
    select checked_at as "checkedAt", queries, findings, evidence from child_checks
    where domain_id = ${domainId} and checked_at is not null`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const findings = row.findings.map(({ names = [], ...passed }) => ({
    ...passed,
    names: decodeNames(names),
  }));
  return { ...row, findings };
}

interface ChildCheckRow {
  readonly checkedAt: Date;
  readonly queries: number;
  readonly findings: readonly JsonChildFinding[];
  readonly evidence: JsonChildEvidence;
}
