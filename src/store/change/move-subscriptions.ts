// Makes the steps of subscriptions that are due, some domains at a time. Each step is made once, whatever number of
// workers run: a subscription is judged under its lock and that of its domain, and saved with the time of its next step.

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
  /** Left as they are by an error, and tried again later. */
  readonly failed: number;
  /** There may be more to do at once. */
  readonly isMore: boolean;
}

interface MoveOrder {
  /** As of this time. */
  readonly at: Date;
  readonly wallet: Wallet<Database>;
  readonly limit?: number;
  /** Told of each that an error leaves as it is, while the others go on. Left out: the error is thrown. */
  readonly onFailed?: (failed: FailedSubscription, error: unknown) => void;
}

export interface FailedSubscription {
  readonly id: number;
  readonly domainId: number;
}

const BATCH = 100;
/** So that those that fail do not take the turn of all others. */
const RETRY_MINUTES = 15;
/** No rule makes so many in a row. */
const MOST_STEPS = 1000;

export async function moveSubscriptions(db: Database, order: MoveOrder): Promise<MovedSubscriptions> {
  const { at, limit = BATCH } = order;
  return await inTransaction(db, async (trx) => {
    // Both rows are locked, so that of one that another worker has just moved the new version is judged here.
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

/** All at once and in order, so that two workers, or one and a customer, do not wait for each other. */
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

/** An error takes back what was done of this one, and no more. */
async function tryOne(trx: Database, row: DueRow, order: MoveOne): Promise<Made[]> {
  const { at, onFailed } = order;
  try {
    return await inTransaction(trx, (savepoint) => moveOne(savepoint, row, order));
  } catch (error) {
    if (onFailed === undefined) throw error;
    // Without a connection this throws too, and the round is over.
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
  // What goes on for nothing is no event.
  if (made.includes('grace') || (made.includes('renewed') && (state.term?.priceRials ?? 0) > 0))
    await tell(trx, row, { ...state, planSlug: row.plan.slug });
  return made;
}

/** One row of the audit log, whatever number of steps was made. */
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

/** From the end of the one before, however late that is noticed. */
async function beginFree(trx: Database, { domainId, accountId }: DueSubscription, at: Date): Promise<void> {
  const planId = (await findPlan(trx, FREE_PLAN)) ?? null;
  if (planId !== null) await startSubscription(trx, { domainId, accountId, planId, at });
  await sql`
    update domains set plan_id = ${planId}, plan_overrides = null, updated_at = clock_timestamp()
    where id = ${domainId}`.execute(trx);
}
