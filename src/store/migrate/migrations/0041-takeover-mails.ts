// Whoever holds a name is mailed when another account is about to take it.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // What such a mail says; another kind of mail has neither.
  `alter table mails add column domain_id bigint references domains on delete cascade, add column message text`,
  `create index mails_domain on mails (domain_id) where domain_id is not null`,
  // When mails of a domain were ordered within a day: mails themselves are gone once they are sent.
  `create table takeover_mails (
     domain_id bigint not null references domains on delete cascade,
     account_id bigint not null references accounts,
     at timestamptz not null default clock_timestamp()
   )`,
  `create index takeover_mails_domain on takeover_mails (domain_id, at)`,
  `create index takeover_mails_account on takeover_mails (account_id, at)`,
  `create index takeover_mails_at on takeover_mails (at)`,

  // It runs with the rights of the tables' owner: workers, which read what strangers send, may not read whom accounts belong to.
  // To the owner, and to those who manage the domain, ten in all; of 4 occurrences a day for a domain, and 50 for an account.
  `create function order_takeover_mails(holder bigint, sentence text) returns boolean
     language plpgsql security definer set search_path = public, pg_temp as $$
   begin
     insert into takeover_mails (domain_id, account_id)
       select d.id, d.account_id from domains d
       where d.id = holder
         and (select count(*) from (select from takeover_mails t
           where t.domain_id = d.id and t.at > clock_timestamp() - interval '1 day' limit 4) t) < 4
         and (select count(*) from (select from takeover_mails t
           where t.account_id = d.account_id and t.at > clock_timestamp() - interval '1 day' limit 50) t) < 50;
     if not found then
       return false;
     end if;
     insert into mails (kind, email, account_id, domain_id, message)
       select 'takeover', a.email, a.id, d.id, sentence
       from domains d join accounts a on a.active and (a.id = d.account_id or exists (
         select from memberships m where m.domain_id = d.id and m.account_id = a.id and m.role = 'admin'))
       where d.id = holder order by a.id <> d.account_id, a.id limit 10;
     return true;
   end $$`,
  `revoke all on function order_takeover_mails(bigint, text) from public`,
];
