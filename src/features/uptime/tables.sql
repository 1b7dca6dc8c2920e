-- Outages of domains whose origins fail, evaluated minute by minute, and the mails about them.

-- One row: the last minute evaluated. Minutes are counted since 1970.
create table uptime_round (
  id integer primary key default 1 check (id = 1),
  -- Null if none has been.
  judged bigint,
  lease_until timestamptz not null default '-infinity'
);
insert into uptime_round default values;

-- Domains that recently had minutes with an outage; others have no row. `state` is an `UptimeState` of minutes.ts.
create table uptime_states (
  domain_id bigint primary key references domains on delete cascade,
  judged bigint not null,
  state jsonb not null
);

create table uptime_incidents (
  id bigint generated always as identity primary key,
  domain_id bigint not null references domains on delete cascade,
  started_at timestamptz not null,
  ended_at timestamptz,
  requests bigint not null,
  failures bigint not null,
  noted_at timestamptz not null default clock_timestamp(),
  -- True if the owner was notified that it began.
  told boolean not null default false
);
create unique index uptime_incidents_open on uptime_incidents (domain_id) where ended_at is null;
create index uptime_incidents_of on uptime_incidents (domain_id, started_at);
create index uptime_incidents_at on uptime_incidents (started_at);

-- Number of outages that an account was mailed about in `hour`.
create table outage_mails (
  account_id bigint primary key references accounts,
  hour timestamptz not null,
  mails integer not null
);

-- Orders a mail to the owner, at most 50 an hour for an account. The end of an incident is always announced if its
-- beginning was. Returns false if no mail was ordered. It runs with the rights of the owner of the tables, because
-- workers may not read accounts.
create function order_outage_mail(domain bigint, sentence text, is_end boolean) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not is_end then
    insert into outage_mails as n (account_id, hour, mails)
      select d.account_id, date_trunc('hour', clock_timestamp()), 1 from domains d where d.id = domain
    on conflict (account_id) do update
      set mails = case when n.hour = excluded.hour then n.mails + 1 else 1 end, hour = excluded.hour
      where n.hour <> excluded.hour or n.mails < 50;
    if not found then
      return false;
    end if;
  end if;
  insert into mails (kind, email, account_id, domain_id, message)
    select case when is_end then 'outage-over' else 'outage' end, a.email, a.id, d.id, sentence
    from domains d join accounts a on a.id = d.account_id and a.active
    where d.id = domain;
  return found;
end $$;
revoke all on function order_outage_mail(bigint, text, boolean) from public;
