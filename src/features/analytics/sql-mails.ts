// Orders mails about traffic, and loads the subscriptions whose traffic is limited.

import { sql } from 'kysely';
import { PLAN_JSON } from '../../store/accounts/plans.ts';
import type { DueSubscription } from '../../store/accounts/subscriptions.ts';
import type { Database } from '../../store/postgres/database.ts';

interface TrafficMail {
  readonly domainId: number;
  readonly periodStart: Date;
  /** Percentage of the included traffic. A larger one replaces a smaller one. */
  readonly percent: number;
  readonly message: string;
}

/** Returns false if this was already reported, or if the account is inactive. */
export async function orderTrafficMail(db: Database, mail: TrafficMail): Promise<boolean> {
  const { domainId, periodStart, percent, message } = mail;
  const { rows } = await sql<{ isOrdered: boolean }>`
    select order_traffic_mail(${domainId}::bigint, ${periodStart}::timestamptz, ${percent}::integer, ${message}::text)
      as "isOrdered"`.execute(db);
  return rows[0]?.isOrdered === true;
}

/** Returns true for one worker per `everySeconds`. That worker checks the traffic of all domains. */
export async function takeTrafficRound(db: Database, everySeconds: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update traffic_round set due_at = clock_timestamp() + make_interval(secs => ${everySeconds})
    where due_at <= clock_timestamp()`.execute(db);
  return numAffectedRows === 1n;
}

export interface MeteredSubscription
  extends Pick<DueSubscription, 'domainId' | 'plan' | 'overrides' | 'startedAt' | 'quotaResetDays'> {
  /** The last report of traffic to the owner. Null if there was none. */
  readonly lastMail: { readonly periodStart: Date; readonly percent: number } | null;
}

/** Lists subscriptions in the order of their domain ids, from the first after `after`. */
export async function listMetered(
  db: Database,
  after: number,
  limit: number,
): Promise<MeteredSubscription[]> {
  const { rows } = await sql<
    Omit<MeteredSubscription, 'lastMail'> & {
      readonly mailedStart: Date | null;
      readonly mailedPercent: number;
    }
  >`
    select s.domain_id as "domainId", ${PLAN_JSON} as plan, s.overrides, s.started_at as "startedAt",
      s.quota_reset_days as "quotaResetDays", m.period_start as "mailedStart", m.percent as "mailedPercent"
    from subscriptions s join domains d on d.id = s.domain_id join plans p on p.id = s.plan_id
      left join traffic_mails m on m.domain_id = s.domain_id
    where s.ended_at is null and s.domain_id > ${after} and d.deleted_at is null
    order by s.domain_id limit ${limit}`.execute(db);
  return rows.map(({ mailedStart, mailedPercent, ...row }) => ({
    ...row,
    lastMail: mailedStart === null ? null : { periodStart: mailedStart, percent: mailedPercent },
  }));
}
