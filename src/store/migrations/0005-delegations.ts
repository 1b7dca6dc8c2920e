// What may stand at and below a customer's delegations: NS, DS, and addresses that are glue. The planner's rule a second
// time, apart from names with escapes; nothing is done in domains without delegations. An edit writes its records in one
// statement, so that each trigger sees the result.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // The host that a customer's NS names, as `name` has names but without the final dot; null for all other records. Who
  // asks for it, and not for the type, cannot be given the index of types: a domain may have nothing but NS.
  `create function delegated_host(type text, managed boolean, destination text) returns text
   language sql immutable parallel safe as $$
     select case when type = 'NS' and not managed then lower(destination collate "C") end
   $$`,
  `create index records_delegated_host on records (domain_id, delegated_host(type, managed, destination))
     where delegated_host(type, managed, destination) is not null`,

  // Asked at every edit, so its plan is kept; it may be made while the table is small, and this is the only index for it.
  `create function has_delegations(domain bigint) returns boolean language plpgsql
   set enable_seqscan to off set enable_sort to off as $$
   begin
     perform delegated_host(r.type, r.managed, r.destination) from records r
     where r.domain_id = domain and delegated_host(r.type, r.managed, r.destination) is not null
     order by r.domain_id, delegated_host(r.type, r.managed, r.destination) limit 1;
     return found;
   end $$`,

  // Comparing each name with each cut is for few cuts; for more, all names that could lie below one.
  `create function names_below(domain bigint, cuts text[]) returns text[] language sql as $$
     select coalesce(array_agg(distinct r.name), '{}') from records r join domains d on d.id = r.domain_id
     where r.domain_id = domain and case when cardinality(cuts) > 50
       then strpos(left(r.name, -length(d.name) - 1), '.') > 0
       else exists (select from unnest(cuts) as c(name) where right(r.name, length(c.name) + 1) = '.' || c.name) end
   $$`,

  // Executed as text for the reason in 0002. A table that was never analysed looks small: joined instead of looked up
  // name by name, each of ten thousand names would be compared with each.
  `create function check_at_delegations(domain bigint, names text[]) returns void language plpgsql as $$
   declare
     bad record;
   begin
     execute $query$
     with recursive above as (
       select n.name, n.name as place, d.name as apex from unnest($2) as n(name) join domains d on d.id = $1
       where strpos(n.name, '\\') = 0
       union all
       select name, substr(place, strpos(place, '.') + 1), apex from above where place not in (apex, ''))
     select r.name, r.type, c.name as cut
     from above a
       cross join lateral (
         select c.name from records c where c.domain_id = $1 and c.name = a.place
           and delegated_host(c.type, c.managed, c.destination) is not null limit 1) c
       cross join lateral (select * from records r where r.domain_id = $1 and r.name = a.name offset 0) r
     where case when r.type in ('A', 'AAAA') and not r.proxied
       then not exists (
         select from records h where h.domain_id = $1
           and delegated_host(h.type, h.managed, h.destination) = left(r.name, -1))
       else r.name <> c.name or r.type not in ('NS', 'DS') end
     limit 1
     $query$ into bad using domain, names;
     if bad.name is not null then
       raise exception '% has % at or below the delegation %, and it is no glue', bad.name, bad.type, bad.cut
         using errcode = 'check_violation', table = 'records', constraint = 'records_at_delegations';
     end if;
   end $$`,

  `create function check_created_at_delegations() returns trigger language plpgsql as $$
   declare
     domain bigint;
     names text[];
     cuts text[];
   begin
     for domain in select distinct w.domain_id from written w loop
       continue when not has_delegations(domain);
       names := array(select distinct w.name from written w where w.domain_id = domain);
       execute $query$
       select array(
         select distinct w.name from written w
         where w.domain_id = $1 and w.type = 'NS' and not w.managed and 0 = (
           select count(*) from records r where r.domain_id = $1 and r.name = w.name
             and delegated_host(r.type, r.managed, r.destination) is not null
             and r.id not in (select id from written)))
       $query$ into cuts using domain;
       if cardinality(cuts) > 0 then names := names || names_below(domain, cuts); end if;
       perform check_at_delegations(domain, names);
     end loop;
     return null;
   end $$`,
  `create trigger records_insert_at_delegations after insert on records
     referencing new table as written for each statement execute function check_created_at_delegations()`,

  // The host that an NS named before may be left with addresses that are glue no longer.
  `create function check_changed_at_delegations() returns trigger language plpgsql as $$
   declare
     names text[] := '{}';
   begin
     if not has_delegations(old.domain_id) then return null; end if;
     if old.type = 'NS' then names := names || (lower(old.destination collate "C") || '.'); end if;
     if tg_op = 'UPDATE' then
       names := names || new.name;
       if new.type = 'NS' and (old.type <> 'NS' or old.name <> new.name) then
         names := names || names_below(new.domain_id, array[new.name]);
       end if;
     end if;
     perform check_at_delegations(old.domain_id, names);
     return null;
   end $$`,
  `create trigger records_update_at_delegations after update on records for each row
     when ((old.name, old.type, old.proxied) is distinct from (new.name, new.type, new.proxied)
       or old.type = 'NS' and old.identity <> new.identity)
     execute function check_changed_at_delegations()`,
  `create trigger records_delete_at_delegations after delete on records for each row
     when (old.type = 'NS' and not old.managed)
     execute function check_changed_at_delegations()`,
];
