// The subscriptions of domains that are there, some at a time: whose traffic is measured.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { PLAN_JSON } from './plans.ts';
import type { DueSubscription } from './subscriptions.ts';

export interface MeteredSubscription
  extends Pick<DueSubscription, 'domainId' | 'plan' | 'overrides' | 'startedAt' | 'quotaResetDays'> {
  /** The last that its owner was told of its traffic; null: nothing. */
  readonly told: { readonly periodStart: Date; readonly percent: number } | null;
}

/** In the order of their domains, behind one of them. */
export async function listMetered(
  db: Database,
  after: number,
  limit: number,
): Promise<MeteredSubscription[]> {
  const { rows } = await sql<
    Omit<MeteredSubscription, 'told'> & { readonly toldStart: Date | null; readonly toldPercent: number }
  >`
    select s.domain_id as "domainId", ${PLAN_JSON} as plan, s.overrides, s.started_at as "startedAt",
      s.quota_reset_days as "quotaResetDays", m.period_start as "toldStart", m.percent as "toldPercent"
    from subscriptions s join domains d on d.id = s.domain_id join plans p on p.id = s.plan_id
      left join traffic_mails m on m.domain_id = s.domain_id
    where s.ended_at is null and s.domain_id > ${after} and d.deleted_at is null
    order by s.domain_id limit ${limit}`.execute(db);
  return rows.map(({ toldStart, toldPercent, ...row }) => ({
    ...row,
    told: toldStart === null ? null : { periodStart: toldStart, percent: toldPercent },
  }));
}
