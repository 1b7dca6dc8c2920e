// The rule for the records of one name, as in 0002, but planned once a session where few records are written: planning was
// most of what such an edit cost. For many it still is planned each time, since a session may have planned it for an
// empty table, with any index that begins with the domain.

import { type Kysely, sql } from 'kysely';

const ADDRESS_LIKE = "('A', 'AAAA', 'CNAME', 'ANAME')";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(CHECK_RECORDS).execute(db);
}

const faults = (into: string) => `
       select w.name, r.fault ${into}
     from (select distinct n.domain_id, n.name, d.name as apex from written n join domains d on d.id = n.domain_id) w
     cross join lateral (
       select case
         when count(*) filter (where r.type in ('CNAME', 'ANAME')) > 1 then 'more than one CNAME or ANAME'
         when count(*) > 1 and bool_or(r.type = 'CNAME' and not r.proxied) then 'a CNAME and something else'
         when bool_or(r.type = 'ANAME' and not r.proxied)
           and count(*) filter (where r.type in ${ADDRESS_LIKE}) > 1 then 'an ANAME and other addresses'
         when count(distinct r.proxied) filter (where r.type in ${ADDRESS_LIKE}) > 1
           then 'proxied addresses and others'
         when count(*) > 1 and count(distinct (r.type, r.ttl)) > count(distinct r.type)
           then 'a record set with several TTLs'
         when count(*) > 1 and count(*) filter (where r.type <> 'TXT')
           > count(distinct (r.type, r.identity)) filter (where r.type <> 'TXT') then 'the same record twice'
         when w.name = w.apex and bool_or(not r.managed
           and (r.type in ('NS', 'DS') or r.type = 'CNAME' and not r.proxied)) then 'a type that no apex has'
         when w.name <> w.apex and (bool_or(r.managed)
           or right(w.name, length(w.apex) + 1) <> '.' || w.apex) then 'a record of another domain'
         end as fault
       from records r where r.domain_id = w.domain_id and r.name = w.name) r
     where r.fault is not null limit 1`;

const CHECK_RECORDS = `create or replace function check_records() returns trigger language plpgsql as $$
   declare
     bad record;
   begin
     perform from domains where id in (select domain_id from written) order by id for update;
     if (select count(*) from (select from written limit 50) few) < 50 then
       ${faults('into bad')};
     else
       execute $query$ ${faults('')} $query$ into bad;
     end if;
     if bad.fault is not null then
       raise exception '% has %', bad.name, bad.fault
         using errcode = 'check_violation', table = 'records', constraint = 'records_at_one_name';
     end if;
     return null;
   end $$`;
