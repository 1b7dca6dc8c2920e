// Domains that a debt suspends have a mark of their own, beside that of the operator's hand: each is taken away alone.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

/** As in 0052, and the new mark. */
const TOLD_COLUMNS = [
  'status',
  'served',
  'dns_mode',
  'suspended_at',
  'debt_suspended_at',
  'deleted_at',
  'plan_id',
  'plan_overrides',
  'edge_regions',
  'cache_l2_max_gb',
  'cache_l2_ttl_days',
  'cache_cap_mb',
  'developer_mode_until',
  'sec_no_sniff',
  'sec_referrer_policy',
  'sec_strip_headers',
  'markdown_for_agents',
];

const STATEMENTS = [
  `alter table domains add column debt_suspended_at timestamptz`,
  `create index domains_in_debt on domains (id) where debt_suspended_at is not null`,
  `create index wallets_suspended on wallets (account_id) where suspended_at is not null`,

  `drop trigger domains_edge on domains`,
  `create trigger domains_edge after update on domains for each row
     when ((${TOLD_COLUMNS.map((column) => `old.${column}`).join(', ')}) is distinct from
       (${TOLD_COLUMNS.map((column) => `new.${column}`).join(', ')}))
     execute function note_edge_domain()`,

  // With the rights of the tables' owner: workers do not read accounts.
  `create function accounts_in_debt() returns setof bigint
     language sql stable security definer set search_path = public, pg_temp as $$
     select account_id from wallets where suspended_at is not null
     union
     select client.id from wallets w join accounts client on client.provider_id = w.account_id
     where w.suspended_at is not null $$`,
  `revoke all on function accounts_in_debt() from public`,
];
