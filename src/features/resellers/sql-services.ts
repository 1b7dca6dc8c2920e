// Services that resellers buy for their clients: a term of a plan for a domain.

import { sql } from 'kysely';
import { hasPaidTime } from '../../billing/buy-term.ts';
import { FREE_PLAN } from '../../store/accounts/plans.ts';
import { ownSubscriptions, type Subscription } from '../../store/accounts/subscriptions.ts';
import { isGone, lockDomain } from '../../store/change/lock-domain.ts';
import type { CreatedDomain, NewDomain } from '../../store/change/save-domain.ts';
import { setPlan } from '../../store/change/set-plan.ts';
import { createDomainSigned } from '../../store/dnssec/create-signed-domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { countUpTo, type LogPage, logSql } from '../../store/postgres/list-page.ts';
import { inTransaction, rollBackTo } from '../../store/postgres/transaction.ts';
import { type Bought, buyTerm } from '../money/sql-buy.ts';
import type { Charging } from '../money/sql-charge.ts';
import { holdClient } from './sql-clients.ts';

interface ServiceOrder extends Charging {
  readonly resellerId: number;
  /** Domain of the client. The client's wallet pays the price, and the reseller's wallet pays what is missing. */
  readonly domain: NewDomain;
  readonly isSigned: boolean;
  readonly termId: number;
}

type CreatedService =
  | (Extract<Bought, { kind: 'bought' }> & Pick<Extract<CreatedDomain, { kind: 'created' }>, 'domain'>)
  | Exclude<CreatedDomain, { kind: 'created' }>
  | Exclude<Bought, { kind: 'bought' }>
  | Extract<Awaited<ReturnType<typeof createDomainSigned>>, { kind: 'refused' }>
  | { readonly kind: 'not_owned' };

/** Creates the domain and its subscription, and charges the price. If one part fails, nothing is written. */
export async function createService(db: Database, order: ServiceOrder): Promise<CreatedService> {
  const { resellerId, domain: wanted, termId, maxNegativeRials, seller } = order;
  return await inTransaction<CreatedService>(db, async (trx) => {
    const client = { resellerId, clientId: wanted.accountId };
    if (!(await holdClient(trx, client, true))) return { kind: 'not_owned' };
    const created = await createDomainSigned(trx, wanted, order.isSigned ? {} : undefined);
    if (created.kind !== 'created') return created;
    const { domain } = created;
    const bought = await buyTerm(trx, {
      kind: 'purchase',
      domainId: domain.id,
      ownerId: wanted.accountId,
      termId,
      maxNegativeRials,
      seller,
    });
    if (bought.kind !== 'bought') return rollBackTo(bought);
    return { ...bought, domain };
  });
}

/** Checked again in the transaction, because the client or the domain may have changed its owner. */
interface OwnedService {
  readonly resellerId: number;
  readonly domainId: number;
  readonly ownerId: number;
}

/** Switches the subscription if paid time is left, otherwise purchases a new one. */
export async function changePlan(
  db: Database,
  order: OwnedService & Charging & { readonly termId: number },
): Promise<Bought | { readonly kind: 'not_owned' }> {
  return await inTransaction<Bought | { readonly kind: 'not_owned' }>(db, async (trx) => {
    const { resellerId, domainId, ownerId } = order;
    if (!(await holdClient(trx, { resellerId, clientId: ownerId }, false))) return { kind: 'not_owned' };
    const lock = await lockDomain(trx, domainId);
    if (lock === undefined || isGone(lock, order)) return { kind: 'absent' };
    const own = (await ownSubscriptions(trx, [domainId])).get(domainId);
    const kind = hasPaidTime(own, lock.now) ? 'switch' : 'purchase';
    const bought = await buyTerm(trx, { ...order, kind });
    return bought.kind === 'bought' ? bought : rollBackTo(bought);
  });
}

type CancelledService =
  | {
      readonly kind: 'cancelled';
      readonly before: Subscription;
      readonly after: Subscription | undefined;
    }
  | { readonly kind: 'absent' }
  | { readonly kind: 'not_owned' }
  /** Nothing was bought. */
  | { readonly kind: 'wrong_state'; readonly message: string };

/** Cancels immediately, without a refund. The domain remains, with the free plan. */
export async function cancelService(db: Database, order: OwnedService): Promise<CancelledService> {
  return await inTransaction<CancelledService>(db, async (trx) => {
    const { resellerId, domainId, ownerId } = order;
    if (!(await holdClient(trx, { resellerId, clientId: ownerId }, false))) return { kind: 'not_owned' };
    const lock = await lockDomain(trx, domainId);
    if (lock === undefined || isGone(lock, order)) return { kind: 'absent' };
    const before = (await ownSubscriptions(trx, [domainId])).get(domainId);
    if (before === undefined || before.plan.slug === FREE_PLAN)
      return { kind: 'wrong_state', message: 'nothing was bought for this domain' };
    let set = await setPlan(trx, { domainId, planSlug: FREE_PLAN });
    if (set.kind === 'refused') set = await setPlan(trx, { domainId, planSlug: null });
    if (set.kind !== 'updated') throw new Error(`the service ${domainId} is not cancelled: ${set.kind}`);
    return { kind: 'cancelled', before, after: set.subscription };
  });
}

/** Summary of a client's domain. */
export interface ServiceRow {
  readonly id: number;
  readonly clientId: number;
  /** Encoded as in its column. */
  readonly domain: string;
  readonly status: string;
  readonly served: string;
}

export async function listServices(
  db: Database,
  { resellerId, clientId }: { readonly resellerId: number; readonly clientId: number | undefined },
  page: LogPage,
): Promise<ServiceRow[]> {
  const { behind, order } = logSql(sql`d.id`, page);
  const { rows } = await sql<ServiceRow>`
    select d.id, d.account_id as "clientId", d.name as domain, d.status, d.served from ${OF_CLIENTS}
    where ${ofReseller(resellerId, clientId)} and ${behind} order by ${order} limit ${page.limit} offset ${page.offset ?? 0}`.execute(
    db,
  );
  return rows;
}

export async function countServices(
  db: Database,
  { resellerId, clientId }: { readonly resellerId: number; readonly clientId: number | undefined },
): Promise<number> {
  return await countUpTo(db, sql`${OF_CLIENTS} where ${ofReseller(resellerId, clientId)}`);
}

const OF_CLIENTS = sql`accounts a join domains d on d.account_id = a.id`;

function ofReseller(resellerId: number, clientId: number | undefined) {
  const client = clientId === undefined ? sql`true` : sql`a.id = ${clientId}`;
  return sql`a.provider_id = ${resellerId} and ${client} and d.deleted_at is null`;
}
