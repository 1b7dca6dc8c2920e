// Terms of plans; subscriptions that end, are renewed and have entitlements of their own; trials.
// Processes from before cannot work with this schema.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Never changed, since subscriptions were bought by them; a retired one is sold no more.
  `create table plan_terms (
     id bigint generated always as identity primary key,
     plan_id bigint not null references plans,
     days integer not null check (days between 1 and 3660),
     price_rials bigint not null check (price_rials between 0 and 9000000000000000),
     created_at timestamptz not null default clock_timestamp(),
     retired_at timestamptz
   )`,
  `create index plan_terms_plan on plan_terms (plan_id, id)`,
  // Only free has a price that is known. The numbers that were shown before are given to no other term.
  `insert into plan_terms (id, plan_id, days, price_rials) overriding system value
     select term_id, id, billing_duration_days, 0 from plans where slug = 'free'`,
  `select setval(pg_get_serial_sequence('plan_terms', 'id'),
     greatest((select coalesce(max(term_id), 0) from plans), (select coalesce(max(id), 0) from plan_terms), 1))`,
  `alter table plans
     drop column term_id,
     drop column billing_duration_days,
     add check (max_cache_cap_mb >= 0),
     add check (quota_reset_days >= 0)`,

  // The domain's own is the one that has not ended, whatever its status. Due is what the workers have to look at.
  `alter table subscriptions
     add column term_id bigint references plan_terms,
     add column overrides jsonb check (jsonb_typeof(overrides) = 'object'),
     add column ended_at timestamptz,
     add column charge_tried_at timestamptz,
     add column due_at timestamptz`,
  `update subscriptions set ended_at = coalesce(grace_until, expires_at, clock_timestamp()),
     expires_at = coalesce(expires_at, grace_until, clock_timestamp()),
     status = case when status = 'cancelled' then status else 'expired' end, auto_renew = false
   where status <> 'active'`,
  `alter table subscriptions alter column auto_renew set default false`,
  // What has no end is not renewed. Subscriptions to free end with a term, and the workers renew it.
  `update subscriptions s set auto_renew = t.id is not null, term_id = t.id,
     expires_at = case when t.id is not null then s.started_at + make_interval(days => t.days
       * (1 + greatest(0, extract(epoch from clock_timestamp() - s.started_at)::bigint / (86400 * t.days)))::integer) end
   from subscriptions o left join plan_terms t on t.plan_id = o.plan_id
   where o.id = s.id and s.ended_at is null`,
  `update subscriptions s set due_at = s.expires_at - make_interval(days => least(3, t.days))
   from plan_terms t where t.id = s.term_id and s.ended_at is null`,
  `drop index subscriptions_active`,
  `create unique index subscriptions_own on subscriptions (domain_id) where ended_at is null`,
  `create index subscriptions_due on subscriptions (due_at) where ended_at is null and due_at is not null`,
  `alter table subscriptions
     add check (status <> 'expired' or ended_at is not null),
     add check (status <> 'grace' or grace_until is not null),
     add check (status <> 'cancelled' or expires_at is not null),
     add check (not auto_renew or term_id is not null)`,
  // As with plan_id: those of the domain's subscription, so that a look at the domain needs no look at that.
  `alter table domains add column plan_overrides jsonb`,

  `alter table accounts add column trial_at timestamptz`,
  `create index accounts_provider on accounts (provider_id) where provider_id is not null`,
];
