-- Checks written records at a third of the cost, with the same rules. Replacing a function locks no table. Statements that
-- are running the old one finish with it.
create or replace function check_records() returns trigger language plpgsql set enable_seqscan = off as $$
declare
  bad record;
begin
  perform from domains where id in (select domain_id from written) order by id for update;
  select w.name, r.fault into bad
  from (
    select distinct n.domain_id, n.name from written n
    cross join lateral (
      select from records o where o.domain_id = n.domain_id and o.name = n.name and o.id <> n.id limit 1) other) w
  cross join lateral (
    select case
      when count(*) filter (where r.type in ('CNAME', 'ANAME')) > 1 then 'more than one CNAME or ANAME'
      when count(*) filter (where r.type = 'DNAME') > 1 then 'more than one DNAME'
      when bool_or(r.type = 'CNAME' and not r.proxied) then 'a CNAME and something else'
      when bool_or(r.type = 'ANAME' and not r.proxied)
        and count(*) filter (where r.type in ('A', 'AAAA', 'CNAME', 'ANAME')) > 1 then 'an ANAME and other addresses'
      when count(distinct r.proxied) filter (where r.type in ('A', 'AAAA', 'CNAME', 'ANAME')) > 1
        then 'proxied addresses and others'
      when count(distinct (r.type, r.ttl)) > count(distinct r.type) then 'a record set with several TTLs'
      when count(*) filter (where r.type <> 'TXT')
        > count(distinct (r.type, r.identity)) filter (where r.type <> 'TXT') then 'the same record twice'
      end as fault
    from records r where r.domain_id = w.domain_id and r.name = w.name) r
  where r.fault is not null limit 1;
  if bad.fault is null then
    select n.name, case when n.name = d.name then 'a type that no apex has' else 'a record of another domain' end as fault
    into bad
    from written n join domains d on d.id = n.domain_id
    where case when n.name = d.name
      then not n.managed and (n.type in ('NS', 'DS') or n.type = 'CNAME' and not n.proxied)
      else n.managed and n.type = 'NS' or right(n.name, length(d.name) + 1) <> '.' || d.name end
    limit 1;
  end if;
  if bad.fault is not null then
    raise exception '% has %', bad.name, bad.fault
      using errcode = 'check_violation', table = 'records', constraint = 'records_at_one_name';
  end if;
  return null;
end $$;
