// DNSSEC beside the steps of keys: the status as lists show it, looks that users ask for, reminders of owners, and when the
// signatures of zones end that others signed.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // The status follows from the machine, and is kept beside it. A phase is near enough until the next look.
  `alter table signed_zones
     add column status text not null default 'off',
     add column look_asked_at timestamptz,
     add column ds_due boolean not null default false,
     add column wanted_since timestamptz,
     add column reminded_at timestamptz`,
  `update signed_zones set status = phase, due_at = clock_timestamp() where machine is not null`,

  // Zones that were loaded with their signatures. The end of one is in its octets 8 to 11 (RFC 4034 §3.1).
  `insert into signed_zones (zone_name, goal, denial, algorithm, phase, verbatim, expires_at)
     select z.name, 'unsigned', 'nsec', 13, 'off', true, min(to_timestamp(
       ((get_byte(r.rdata, 8) * 256::bigint + get_byte(r.rdata, 9)) * 256 + get_byte(r.rdata, 10)) * 256 + get_byte(r.rdata, 11)))
     from zones z join zone_records r on r.zone_id = z.id
     where z.kind = 'operator' and z.deleted_at is null and r.type = 46 and not r.removed and length(r.rdata) > 18
       and exists (select from zone_records k
         where k.zone_id = z.id and k.owner = z.name and k.type = 46 and not k.removed and get_byte(k.rdata, 1) = 6)
     group by z.name
     on conflict (zone_name) do nothing`,

  // How many reminders of an account were ordered on its last day with any.
  `create table dnssec_reminders (
     account_id bigint primary key references accounts,
     day date not null,
     mails integer not null
   )`,
  // It runs with the rights of the tables' owner, as order_takeover_mails does. One in 30 days for a domain, 20 a day for an
  // account; to the owner and those who manage the domain, ten in all.
  `create function order_dnssec_reminder(zone bigint, sentence text) returns boolean
     language plpgsql security definer set search_path = public, pg_temp as $$
   begin
     insert into dnssec_reminders as n (account_id, day, mails)
       select d.account_id, current_date, 1 from signed_zones s join domains d on d.id = s.domain_id
       where s.id = zone and (s.reminded_at is null or s.reminded_at < clock_timestamp() - interval '30 days')
     on conflict (account_id) do update
       set mails = case when n.day = current_date then n.mails + 1 else 1 end, day = current_date
       where n.day <> current_date or n.mails < 20;
     if not found then
       return false;
     end if;
     update signed_zones set reminded_at = clock_timestamp() where id = zone;
     insert into mails (kind, email, account_id, domain_id, message)
       select 'dnssec', a.email, a.id, d.id, sentence
       from signed_zones s join domains d on d.id = s.domain_id join accounts a on a.active and (a.id = d.account_id
         or exists (select from memberships m where m.domain_id = d.id and m.account_id = a.id and m.role = 'admin'))
       where s.id = zone order by a.id <> d.account_id, a.id limit 10;
     return true;
   end $$`,
  `revoke all on function order_dnssec_reminder(bigint, text) from public`,
];
