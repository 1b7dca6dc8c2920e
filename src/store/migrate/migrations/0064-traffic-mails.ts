// Mails about traffic that comes near what a plan includes: what was told of each domain, and when the domains are looked at next.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // One row.
  `create table traffic_round (
     id integer primary key default 1 check (id = 1),
     due_at timestamptz not null default '-infinity'
   )`,
  `insert into traffic_round default values`,

  // The last that its owner was told.
  `create table traffic_mails (
     domain_id bigint primary key references domains on delete cascade,
     period_start timestamptz not null,
     percent integer not null
   )`,
  // It runs with the rights of the tables' owner, as order_takeover_mails does. To the owner alone. A period that is over is told no
  // more once the next one was told of.
  `create function order_traffic_mail(domain bigint, period timestamptz, share integer, sentence text) returns boolean
     language plpgsql security definer set search_path = public, pg_temp as $$
   begin
     insert into traffic_mails as n (domain_id, period_start, percent)
       select d.id, period, share from domains d where d.id = domain and d.deleted_at is null
     on conflict (domain_id) do update set period_start = excluded.period_start, percent = excluded.percent
       where (n.period_start, n.percent) < (excluded.period_start, excluded.percent);
     if not found then
       return false;
     end if;
     insert into mails (kind, email, account_id, domain_id, message)
       select 'traffic', a.email, a.id, d.id, sentence
       from domains d join accounts a on a.id = d.account_id and a.active
       where d.id = domain;
     return found;
   end $$`,
  `revoke all on function order_traffic_mail(bigint, timestamptz, integer, text) from public`,
];
