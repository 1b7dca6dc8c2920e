-- Wallets, the ledger of all money that moved, invoices with consecutive numbers, and top-ups.

-- A wallet is created when money first moves. Its balance is that of the account's last row in the ledger.
create table wallets (
  account_id bigint primary key references accounts,
  balance_rials bigint not null default 0 check (abs(balance_rials) <= 1000000000000000),
  negative_since timestamptz,
  -- When the domains of the account, and of those that it manages, were suspended.
  suspended_at timestamptz,
  -- Credited for unused time since the debt began, and not yet spent.
  given_back_rials bigint not null default 0 check (given_back_rials >= 0),
  -- How long the debt had lasted when such credits alone brought the balance to zero or above.
  debt_ms bigint check (debt_ms >= 0),
  check ((balance_rials < 0) = (negative_since is not null)),
  check (suspended_at is null or negative_since is not null),
  check (debt_ms is null or negative_since is null)
);
create index wallets_negative on wallets (negative_since) where negative_since is not null;
create index wallets_suspended on wallets (account_id) where suspended_at is not null;

-- The accounts whose domains a debt suspends: those with a suspended wallet and their clients. It runs with the rights
-- of the owner of the tables, because workers may not read accounts.
create function accounts_in_debt() returns setof bigint
  language sql stable security definer set search_path = public, pg_temp as $$
  select account_id from wallets where suspended_at is not null
  union
  select client.id from wallets w join accounts client on client.provider_id = w.account_id
  where w.suspended_at is not null
$$;
revoke all on function accounts_in_debt() from public;

-- Every movement is two rows that add up to zero: from one wallet to another, or to or from outside.
create sequence movement_id;
create table ledger (
  id bigint generated always as identity primary key,
  movement_id bigint not null,
  -- The wallet; null if this side is outside.
  account_id bigint references wallets,
  outside text check (outside in ('gateway', 'sales', 'operator')),
  amount_rials bigint not null check (amount_rials <> 0 and abs(amount_rials) <= 1000000000000000),
  -- The balance of the wallet after the movement.
  balance_rials bigint,
  ref_type text not null check (ref_type in
    ('topup', 'subscription', 'switch_credit', 'reseller_transfer', 'reseller_autofund', 'adjustment')),
  ref_id bigint,
  description text not null,
  created_at timestamptz not null,
  check ((account_id is null) = (outside is not null)),
  check ((account_id is null) = (balance_rials is null))
);
create index ledger_of on ledger (account_id, id) where account_id is not null;
create index ledger_movement on ledger (movement_id);
-- Ensures that a top-up is credited only once.
create unique index ledger_topup on ledger (ref_id) where ref_type = 'topup' and account_id is not null;

-- Rows of the ledger and of invoices are never changed or deleted, not even by the owner of the tables.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is never changed: correct it by another movement', tg_table_name
    using errcode = 'restrict_violation';
end $$;
create trigger ledger_kept before update or delete or truncate on ledger
  for each statement execute function refuse_change();

-- Checked at the commit, when both rows of a movement exist.
create function judge_movement() returns trigger language plpgsql as $$
begin
  if (select sum(amount_rials) <> 0 or count(*) <> 2 from ledger where movement_id = new.movement_id) then
    raise exception 'the movement % is not two rows that add up to zero', new.movement_id
      using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create constraint trigger ledger_adds_up after insert on ledger
  deferrable initially deferred for each row execute function judge_movement();

-- Last invoice number of each year.
create table invoice_years (
  year integer primary key,
  last integer not null
);
create table invoices (
  id bigint generated always as identity primary key,
  year integer not null,
  number integer not null,
  account_id bigint not null references accounts,
  -- The buyer and the seller as they were on that day. The seller is null for an invoice from before it was stored, and
  -- empty if the settings named none.
  buyer_name text,
  buyer_email text not null,
  seller text,
  domain_id bigint,
  domain text,
  subscription_id bigint,
  movement_id bigint not null,
  -- [{description, amount_rials}], which add up to the total.
  lines jsonb not null,
  total_rials bigint not null,
  -- The reseller who paid a part of it (reseller_autofund), and how much. If the reseller added more than the total,
  -- the rest paid the client's debt and is not counted here.
  funded_by bigint references accounts,
  funded_rials bigint not null default 0 check (funded_rials >= 0),
  period_start timestamptz,
  period_end timestamptz,
  issued_at timestamptz not null,
  unique (year, number),
  check ((funded_by is null) = (funded_rials = 0)),
  check (funded_rials <= abs(total_rials))
);
create index invoices_of on invoices (account_id, id);
create index invoices_of_domain on invoices (domain_id, id);
create index invoices_of_subscription on invoices (subscription_id);
create trigger invoices_kept before update or delete or truncate on invoices
  for each statement execute function refuse_change();

-- Issues an invoice with the next number of the year. The row of the year is locked until the commit, so a number that
-- is rolled back is used again. It runs with the rights of the owner of the tables, because workers may not read
-- accounts.
create function issue_invoice(buyer bigint, about_domain bigint, about_subscription bigint, movement bigint,
    what jsonb, total bigint, from_at timestamptz, until_at timestamptz, at timestamptz, sold_by text default null,
    funder bigint default null, funded bigint default 0) returns bigint
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  its_year integer := extract(year from at at time zone 'UTC');
  its_number integer;
  its_id bigint;
begin
  insert into invoice_years as y (year, last) values (its_year, 1)
    on conflict (year) do update set last = y.last + 1 returning last into its_number;
  insert into invoices (year, number, account_id, buyer_name, buyer_email, domain_id, domain, subscription_id,
      movement_id, lines, total_rials, period_start, period_end, issued_at, seller, funded_by, funded_rials)
    select its_year, its_number, a.id, a.name, a.email, about_domain,
      (select d.name from domains d where d.id = about_domain), about_subscription,
      movement, what, total, from_at, until_at, at, sold_by, funder, funded
    from accounts a where a.id = buyer
    returning id into strict its_id;
  return its_id;
end $$;
revoke all on function issue_invoice(bigint, bigint, bigint, bigint, jsonb, bigint, timestamptz, timestamptz,
  timestamptz, text, bigint, bigint) from public;

-- Returns the reseller of each account. A deactivated reseller pays for no account. It runs with the rights of the
-- owner of the tables, because workers may not read accounts.
create function providers_of(accounts_asked bigint[])
  returns table (account_id bigint, provider_id bigint, is_reseller boolean)
  language sql stable security definer set search_path = public, pg_temp as $$
  select a.id, p.id, a.is_reseller from accounts a left join accounts p on p.id = a.provider_id and p.active
  where a.id = any(accounts_asked)
$$;
revoke all on function providers_of(bigint[]) from public;

-- Top-ups of wallets, from their order to the credit.
create table payments (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts,
  gateway text collate "C" not null,
  -- The name that people and gateways use. It cannot be guessed.
  reference text collate "C" not null unique,
  amount_rials bigint not null check (amount_rials > 0),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  paid_at timestamptz,
  movement_id bigint unique,
  -- The amount of a notice that was refused because it is not the amount of the top-up.
  refused_rials bigint,
  refused_at timestamptz,
  -- When the owner cancelled it. A payment that arrives nevertheless is credited.
  cancelled_at timestamptz,
  check ((paid_at is null) = (movement_id is null)),
  check ((refused_rials is null) = (refused_at is null)),
  check (cancelled_at is null or cancelled_at >= created_at)
);
create index payments_of on payments (account_id, id);
create index payments_unpaid on payments (expires_at) where paid_at is null;
