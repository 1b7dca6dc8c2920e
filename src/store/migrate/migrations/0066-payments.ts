// Top-ups of wallets, from their order to the money.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table payments (
     id bigint generated always as identity primary key,
     account_id bigint not null references accounts,
     gateway text collate "C" not null,
     -- what people and gateways name it by; nobody guesses it
     reference text collate "C" not null unique,
     amount_rials bigint not null check (amount_rials > 0),
     created_at timestamptz not null,
     expires_at timestamptz not null,
     paid_at timestamptz,
     movement_id bigint unique,
     -- the amount of a notice that was refused, since it is not ours
     refused_rials bigint,
     refused_at timestamptz,
     check ((paid_at is null) = (movement_id is null)),
     check ((refused_rials is null) = (refused_at is null))
   )`,
  `create index payments_of on payments (account_id, id)`,
  `create index payments_unpaid on payments (expires_at) where paid_at is null`,
  // Money comes in once for a top-up, whoever writes it.
  `create unique index ledger_topup on ledger (ref_id) where ref_type = 'topup' and account_id is not null`,
];
