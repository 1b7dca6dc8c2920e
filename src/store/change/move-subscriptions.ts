// Makes the due steps of subscriptions in batches. A subscription is evaluated under the locks of its row and its
// domain, and saved with the time of its next step, so several workers never repeat a step.

import { sql } from 'kysely';
import { describeTerm } from '../../billing/invoice.ts';
import { addDays, nextSubscription, type SubscriptionState, type Term } from '../../billing/subscription.ts';
import type { Charger, Wallet } from '../../billing/wallet.ts';
import { FREE_PLAN, findPlan } from '../accounts/plans.ts';
import {
  type DueSubscription,
  SUBSCRIPTION_COLUMNS,
  saveSubscription,
  startSubscription,
} from '../accounts/subscriptions.ts';
import { writeAudit } from '../audit/write-audit.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';

export interface MovedSubscriptions {
  readonly renewed: number;
  readonly unpaid: number;
  readonly grace: number;
  readonly ended: number;
  /** Subscriptions left unchanged by an error. They are retried later. */
  readonly failed: number;
  /** True if more subscriptions may be due: run again without waiting. */
  readonly isMore: boolean;
}

interface MoveOrder {
  /** The time for which steps are due. */
  readonly at: Date;
  readonly wallet: Wallet<Database>;
  readonly limit?: number;
  /** Called for each subscription that fails, while the others continue. If undefined, the error is thrown. */
  readonly onFailed?: (failed: FailedSubscription, error: unknown) => void;
}

export interface FailedSubscription {
  readonly id: number;
  readonly domainId: number;
}

const BATCH = 100;
/** Failed subscriptions wait this long, so that they do not block the others. */
const RETRY_MINUTES = 15;
/** Guards against an endless loop: no rule makes this many steps in a row. */
const MOST_STEPS = 1000;

export async function moveSubscriptions(db: Database, order: MoveOrder): Promise<MovedSubscriptions> {
  const { at, limit = BATCH } = order;
  return await inTransaction(db, async (trx) => {
    // Both rows are locked, so that the latest version of a row that another worker has just changed is evaluated.
    const { rows } = await sql<DueRow>`
      select ${SUBSCRIPTION_COLUMNS}, rtrim(d.name, '.') as domain
      from subscriptions s join domains d on d.id = s.domain_id join plans p on p.id = s.plan_id
        left join plan_terms t on t.id = s.term_id
      where s.ended_at is null and s.due_at <= ${at}
      order by s.due_at, s.id limit ${limit} for no key update of d, s skip locked`.execute(trx);
    const charge = await lockWhoPays(trx, rows, order.wallet);
    const counts = { renewed: 0, unpaid: 0, grace: 0, ended: 0, failed: 0 };
    for (const row of rows) {
      for (const step of await tryOne(trx, row, { ...order, charge })) counts[step]++;
    }
    return { ...counts, isMore: rows.length === limit };
  });
}

interface DueRow extends DueSubscription {
  readonly domain: string;
}

/** Locks all wallets together and in order, so that two workers, or a worker and a customer, do not deadlock. */
async function lockWhoPays(
  trx: Database,
  rows: readonly DueRow[],
  wallet: Wallet<Database>,
): Promise<Charger> {
  const paying = rows.filter(({ term }) => term !== null && term.priceRials > 0);
  return await wallet.lock(trx, [...new Set(paying.map(({ accountId }) => accountId))]);
}

type Made = Exclude<keyof MovedSubscriptions, 'isMore'>;

interface MoveOne extends MoveOrder {
  readonly charge: Charger;
}

/** An error rolls back only this subscription. */
async function tryOne(trx: Database, row: DueRow, order: MoveOne): Promise<Made[]> {
  const { at, onFailed } = order;
  try {
    return await inTransaction(trx, (savepoint) => moveOne(savepoint, row, order));
  } catch (error) {
    if (onFailed === undefined) throw error;
    // Without a connection this throws too and ends the round.
    await sql`
      update subscriptions set due_at = ${at}::timestamptz + make_interval(mins => ${RETRY_MINUTES})
      where id = ${row.id}`.execute(trx);
    onFailed({ id: row.id, domainId: row.domainId }, error);
    return ['failed'];
  }
}

async function moveOne(trx: Database, row: DueRow, { at, charge }: MoveOne): Promise<Made[]> {
  const { id, accountId, domainId, domain } = row;
  const made: Made[] = [];
  let state: SubscriptionState = row;
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const step = nextSubscription(state, at);
    if (step.kind === 'wait') break;
    if (step.kind === 'charge') {
      const { priceRials, paid } = step;
      const { days } = state.term as Term;
      const end = paid.expiresAt as Date;
      const isPaid = await charge({
        accountId,
        subscriptionId: id,
        domainId,
        priceRials,
        description: describeTerm({ planName: row.plan.name, days, domain }),
        period: { start: addDays(end, -days), end },
        at,
      });
      made.push(isPaid ? 'renewed' : 'unpaid');
      state = isPaid ? step.paid : step.unpaid;
      continue;
    }
    state = step.next;
    if (step.kind === 'end') {
      made.push('ended');
      await saveSubscription(trx, id, state, at);
      await beginFree(trx, row, step.endedAt);
      await tell(trx, row, { ...state, planSlug: FREE_PLAN });
      return made;
    }
    made.push(state.status === 'grace' ? 'grace' : 'renewed');
  }
  await saveSubscription(trx, id, state, at);
  // Renewals of free terms are not announced.
  if (made.includes('grace') || (made.includes('renewed') && (state.term?.priceRials ?? 0) > 0))
    await tell(trx, row, { ...state, planSlug: row.plan.slug });
  return made;
}

/** Writes one audit row for any number of steps. */
async function tell(
  trx: Database,
  row: DueSubscription,
  after: SubscriptionState & { readonly planSlug: string },
): Promise<void> {
  const fieldsOf = (state: SubscriptionState, plan: string) => ({
    plan,
    status: state.status,
    expires_at: state.expiresAt,
    grace_until: state.graceUntil,
  });
  await writeAudit(trx, {
    action: 'domain.plan',
    by: { kind: 'system' },
    domainId: row.domainId,
    before: fieldsOf(row, row.plan.slug),
    after: fieldsOf(after, after.planSlug),
  });
}

/** Starts the free plan at the end of the previous subscription, even if that is noticed late. */
async function beginFree(trx: Database, { domainId, accountId }: DueSubscription, at: Date): Promise<void> {
  const planId = (await findPlan(trx, FREE_PLAN)) ?? null;
  if (planId !== null) await startSubscription(trx, { domainId, accountId, planId, at });
  await sql`
    update domains set plan_id = ${planId}, plan_overrides = null, updated_at = clock_timestamp()
    where id = ${domainId}`.execute(trx);
}
