-- Mails about the traffic of domains.

-- One row: when workers next examine the traffic of all domains.
create table traffic_round (
  id integer primary key default 1 check (id = 1),
  due_at timestamptz not null default '-infinity'
);
insert into traffic_round default values;

-- The last mail to the owner of a domain about its traffic.
create table traffic_mails (
  domain_id bigint primary key references domains on delete cascade,
  period_start timestamptz not null,
  percent integer not null
);

-- Orders a mail to the owner when the domain has used a larger share of its plan's traffic than the last mail reported.
-- Returns false if no mail was ordered. It runs with the rights of the owner of the tables, because workers may not
-- read accounts.
create function order_traffic_mail(domain bigint, period timestamptz, share integer, sentence text) returns boolean
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
end $$;
revoke all on function order_traffic_mail(bigint, timestamptz, integer, text) from public;
