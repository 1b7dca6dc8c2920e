// Operator commands on one domain: change its status, suspend it, delete it.

import type { Name } from '../../dns/name.ts';
import type { ChangedBy } from '../../store/accounts/actor.ts';
import type { AuditNote } from '../../store/audit/write-audit.ts';
import type { approveDomain } from '../../store/change/approve-domain.ts';
import { changeStatus } from '../../store/change/change-status.ts';
import { deleteDomain } from '../../store/change/save-domain.ts';
import { setSuspended, type UpdatedDomain } from '../../store/change/update-domain.ts';
import { type Domain, suspensionOf } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Served, StatusEvent } from '../../zone/domain/domain-status.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { findOneDomain, type Owner } from '../terminal/one-domain.ts';
import type { DomainOutcome } from '../terminal/work-on-domains.ts';

export type DomainMove =
  | { readonly kind: Extract<StatusEvent, 'ban' | 'unban' | 'disable' | 'enable'> }
  | { readonly kind: 'suspend' | 'resume' | 'delete' };

/** State of the domain afterwards. */
export const MOVED: Readonly<Record<DomainMove['kind'], string>> = {
  ban: 'banned',
  unban: 'unbanned',
  disable: 'disabled',
  enable: 'enabled',
  suspend: 'suspended',
  resume: 'resumed',
  delete: 'deleted',
};

const ABSENT: DomainOutcome = { kind: 'refused', code: 'absent', message: 'no such domain' };

export async function moveDomain(
  db: Database,
  name: Name,
  move: DomainMove,
  {
    by,
    source,
    tell,
    ...owner
  }: ChangedBy & Owner & { /** What no change tells. */ readonly tell: (note: AuditNote) => void },
): Promise<DomainOutcome> {
  const found = await findOneDomain(db, name, owner);
  if (found.kind === 'refused') return found;
  const { domain } = found;
  const order = { by, source, domainId: domain.id };
  switch (move.kind) {
    case 'ban':
    case 'unban':
    case 'disable':
    case 'enable':
      return updated(await changeStatus(db, { ...order, event: move.kind, exempt: true }));
    case 'suspend':
    case 'resume': {
      const suspended = move.kind === 'suspend';
      const came = await setSuspended(db, { ...order, suspended });
      if (came.kind !== 'updated') return updated(came);
      const hasChanged = domain.suspendedBy.join() !== came.domain.suspendedBy.join();
      if (hasChanged) {
        const [before, after] = [domain, came.domain].map(suspensionOf);
        tell({ domainId: domain.id, target: { name: printWithoutDot(name) }, before, after });
      }
      return suspension(came.domain, hasChanged);
    }
    case 'delete': {
      const came = await deleteDomain(db, order);
      if (came.kind === 'absent') return ABSENT;
      const { changeId, serial } = came;
      return { kind: 'done', words: `change ${changeId}`, members: { change_id: changeId, serial } };
    }
    default:
      return move satisfies never;
  }
}

const ANSWERED: Readonly<Record<Served, string>> = {
  full: 'with all records',
  apex: 'with SOA and NS only',
  none: 'with REFUSED',
};

/** A suspension changes the behaviour of edges, but not DNS. */
function suspension(domain: Domain, hasChanged: boolean): DomainOutcome {
  const { suspended, suspendedBy, served } = domain;
  const outcome = done(domain, undefined, hasChanged ? '(changed)' : '(no change)');
  const debt = suspendedBy.includes('debt') ? ' because of a debt' : '';
  const edges = suspended ? `; edges reject its requests${debt}` : '';
  return {
    ...outcome,
    lines: [`  DNS queries are still answered ${ANSWERED[served]}${edges}`],
    members: { ...outcome.members, changed: hasChanged, suspended_by: suspendedBy },
  };
}

/** Outcome of an update that does not delete the domain. */
export function updated(came: UpdatedDomain | Awaited<ReturnType<typeof approveDomain>>): DomainOutcome {
  switch (came.kind) {
    case 'updated':
      return done(came.domain, came.changeId);
    case 'absent':
      return ABSENT;
    case 'refused':
      return { kind: 'refused', code: came.code, message: came.message };
    default:
      return came satisfies never;
  }
}

/** Returns the outcome with the domain in its new state. `change` describes the change. */
export function done(
  domain: Domain,
  changeId: number | undefined,
  change = changeId === undefined ? '(no change)' : `change ${changeId}`,
) {
  const { id, status, served, suspended, serial, plan } = domain;
  const words = [
    `status ${status}`,
    ...(suspended ? ['suspended'] : []),
    `plan ${plan?.slug ?? 'none'}`,
    change,
  ];
  return {
    kind: 'done' as const,
    words: words.join(' '),
    members: {
      id,
      status,
      served,
      suspended,
      plan: plan?.slug ?? null,
      serial,
      ...(changeId !== undefined && { change_id: changeId }),
    },
  };
}
