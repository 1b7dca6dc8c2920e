// Moves a domain to another status, as people and later the checker want it: a compare-and-set under the domain's lock,
// one change, and what nodes serve follows from it.

import type { DomainStatus, RefusalCode, StatusEvent } from '../zone/domain-status.ts';
import { nextState } from '../zone/domain-status.ts';
import type { ChangedBy } from './actor.ts';
import { claimName } from './claim-name.ts';
import type { Database } from './database.ts';
import type { Domain } from './domain.ts';
import { loadDomainById } from './load-domains.ts';
import { loadRecordsAt } from './load-touched-records.ts';
import { type DomainLock, lockDomain, lockDomainAndNames } from './lock-domain.ts';
import { decodeNameColumn } from './name-column.ts';
import { servedNow, settleEnclosed } from './settle-enclosed.ts';
import { startColumns } from './start-status.ts';
import { inTransaction, rollBackTo } from './transaction.ts';
import { writeDomainChange } from './write-domain-change.ts';

export type ChangedStatus =
  | { readonly kind: 'updated'; readonly domain: Domain; readonly changeId: number | undefined }
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly code: RefusalCode | 'taken'; readonly message: string };

/** `expected`: refused with `wrong_state` when the status is another one by now. */
export async function changeStatus(
  db: Database,
  order: ChangedBy & {
    readonly domainId: number;
    readonly event: StatusEvent;
    readonly expected?: DomainStatus;
  },
): Promise<ChangedStatus> {
  return await inTransaction<ChangedStatus>(db, async (trx) => {
    const { domainId, event, expected } = order;
    const lock = await lockDomainAndNames(trx, domainId);
    if (lock === undefined || lock.row.deletedAt !== null) return { kind: 'absent' };
    const { status } = lock.row;
    if (expected !== undefined && status !== expected) {
      return { kind: 'refused', code: 'wrong_state', message: `the domain is ${status} by now` };
    }
    const applied = await applyEvent(trx, lock, event, order);
    if (applied.kind === 'refused') rollBackTo(applied);
    const { changeId } = applied;
    return { kind: 'updated', changeId, domain: (await loadDomainById(trx, domainId)) as Domain };
  });
}

type Applied =
  | { readonly kind: 'applied'; readonly changeId: number | undefined }
  | { readonly kind: 'refused'; readonly code: RefusalCode | 'taken'; readonly message: string };

/**
 * Under `lockDomainAndNames`. After a refusal the caller rolls back. `nameserversDiffer`: the domain's row has other nameservers
 * than those that are published, which becomes part of the change, if there is one.
 */
export async function applyEvent(
  trx: Database,
  lock: DomainLock,
  event: StatusEvent,
  { by }: ChangedBy,
  { nameserversDiffer = false }: { readonly nameserversDiffer?: boolean } = {},
): Promise<Applied> {
  const { row, settings, now } = lock;
  const move = nextState(row, event);
  if (move.kind === 'refused') return move;
  if (move.kind === 'unchanged') return { kind: 'applied', changeId: undefined };
  const { to } = move;
  const isOff = to.status === 'disabled' || to.status === 'banned';
  let { zoneId, serial } = row;
  if (!isOff && zoneId === null) {
    const claimed = await claimName(trx, {
      nameText: row.name,
      accountId: row.accountId,
      exempt: true,
      settings,
    });
    if (claimed.kind === 'taken') return { ...claimed, kind: 'refused', code: 'taken' };
    zoneId = claimed.zone.id;
    serial = claimed.serial ?? serial;
  }
  // Resolvers that still ask us are answered until the parent shows that none does.
  const leaving = event === 'use_external' && row.served !== 'none';
  await trx
    .updateTable('domains')
    .set({
      ...(isOff
        ? {
            status: to.status,
            disabled_by: to.status === 'disabled' ? 'operator' : null,
            pending_since: null,
          }
        : startColumns(to.dnsMode, now)),
      ...(isOff && { moved_since: null }),
      dns_mode: to.dnsMode,
      zone_id: zoneId,
      serial,
      leaving,
      served: isOff ? 'none' : row.served,
    })
    .where('id', '=', row.id)
    .execute();
  const moved = (await lockDomain(trx, row.id)) as DomainLock;
  const apex = decodeNameColumn(row.name);
  const { changeId } = await writeDomainChange(trx, moved, {
    by,
    source: 'status',
    operation: 'status',
    status: { from: row.status, to: to.status },
    served: await servedNow(trx, row, to, leaving),
    // Every change publishes the apex anew, for its serial: with what the owner has there.
    publish: nameserversDiffer ? 'whole' : new Map([[apex, await loadRecordsAt(trx, row.id, [apex])]]),
  });
  await settleEnclosed(trx, row.name);
  return { kind: 'applied', changeId };
}
