// `domain approve` and `domain reserve-set`, for one name: give the owner of a domain the right to a set of our nameservers.
// A check then decides whether the domain is active.

import type { Name } from '../../dns/name.ts';
import type { ChangedBy } from '../../store/accounts/actor.ts';
import type { AuditNote } from '../../store/audit/write-audit.ts';
import { approveDomain as saveApproval } from '../../store/change/approve-domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { parseDomainName } from '../../zone/domain/domain-name.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { Failure } from '../terminal/failure.ts';
import { findOneDomain, type Owner } from '../terminal/one-domain.ts';
import type { DomainOutcome } from '../terminal/work-on-domains.ts';
import { updated } from './move-domain.ts';

interface Approval extends Owner {
  /** Undefined for the set that the parent showed last. */
  readonly set?: readonly Name[];
  /** True to take the right from the account that holds it. */
  readonly take: boolean;
  readonly tell: (note: AuditNote) => void;
}

export async function approveDomain(
  db: Database,
  name: Name,
  { set, take, tell, ...owner }: Approval,
  by: ChangedBy,
): Promise<DomainOutcome> {
  const found = await findOneDomain(db, name, owner);
  if (found.kind === 'refused') return found;
  const { id: domainId } = found.domain;
  const came = await saveApproval(db, { ...by, domainId, take, ...(set !== undefined && { set }) });
  const after = { take, ...(set !== undefined && { svc_ns: set.map(printWithoutDot) }) };
  if (came.kind === 'updated' && came.changeId !== undefined)
    tell({ domainId, target: { name: printWithoutDot(name) }, after });
  return updated(came);
}

/** Parses the names of a set, separated by commas. */
export function readSet(text: string): readonly Name[] {
  return text.split(',').map((word) => {
    const parsed = parseDomainName(word.trim());
    if (parsed.kind === 'name') return parsed.name;
    throw new Failure('usage', `the set: "${word.trim()}": ${parsed.message}`);
  });
}
