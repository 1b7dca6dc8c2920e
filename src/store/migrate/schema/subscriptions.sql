-- Subscriptions of domains to plans.

-- A domain's current subscription is the one without `ended_at`, regardless of its status.
create table subscriptions (
  id bigint generated always as identity primary key,
  domain_id bigint not null references domains on delete cascade,
  account_id bigint not null references accounts,
  plan_id bigint not null references plans,
  -- Null for a subscription without a term. It does not renew, and does not end unless it is a trial.
  term_id bigint references plan_terms,
  status text not null check (status in ('active', 'expired', 'grace', 'cancelled')),
  is_trial boolean not null default false,
  auto_renew boolean not null default false,
  -- Entitlements that differ from those of the plan.
  overrides jsonb check (jsonb_typeof(overrides) = 'object'),
  quota_reset_days integer not null,
  started_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  grace_until timestamptz,
  ended_at timestamptz,
  charge_tried_at timestamptz,
  -- When workers process it next.
  due_at timestamptz,
  check (status <> 'expired' or ended_at is not null),
  check (status <> 'grace' or grace_until is not null),
  check (status <> 'cancelled' or expires_at is not null),
  check (not auto_renew or term_id is not null)
);
create index subscriptions_domain on subscriptions (domain_id, id);
create unique index subscriptions_own on subscriptions (domain_id) where ended_at is null;
create index subscriptions_due on subscriptions (due_at) where ended_at is null and due_at is not null;
