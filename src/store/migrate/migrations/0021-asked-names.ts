// Names that wait, are answered whole, and are asked for: nodes report them and workers check them at once. Domains that are
// answered so already are published anew, with the mark that tells nodes.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // A zone's slot is the remainder of its id: the one table that nodes write without a bound of their own has one.
  `create unlogged table asked_names (
     slot integer primary key check (slot between 0 and 4095),
     zone_id bigint not null,
     asked_at timestamptz not null default clock_timestamp(),
     check (slot = zone_id % 4096)
   ) with (fillfactor = 50)`,
  `alter table check_shares add column asked_again double precision not null default 0`,
  `alter table domain_checks add column asked_at timestamptz, add column asked_due_at timestamptz`,
  `create index domain_checks_asked on domain_checks (asked_due_at) where asked_due_at is not null`,

  `update domains set answers_generation = 0 where status = 'pending' and served = 'full'`,
  `update settings s set value = jsonb_set(s.value, '{published}', '0')
   where name = 'ANSWER_GENERATIONS' and exists (select from domains where answers_generation = 0)`,
  `insert into settings (name, value)
   select 'ANSWER_GENERATIONS', '{"edges": 1, "apex": 1, "published": 0}'
   where exists (select from domains where answers_generation = 0)
   on conflict (name) do nothing`,
];
