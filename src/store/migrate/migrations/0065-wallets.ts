// Wallets, the ledger of all money that moved, and invoices without gaps in their numbers.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Made when money first moves. The balance is that of the last row of the account in the ledger.
  `create table wallets (
     account_id bigint primary key references accounts,
     balance_rials bigint not null default 0 check (abs(balance_rials) <= 1000000000000000),
     negative_since timestamptz,
     -- the domains of the account, and of those that it manages, are suspended
     suspended_at timestamptz,
     check ((balance_rials < 0) = (negative_since is not null)),
     check (suspended_at is null or negative_since is not null)
   )`,
  `create index wallets_negative on wallets (negative_since) where negative_since is not null`,

  `create sequence movement_id`,
  `create table ledger (
     id bigint generated always as identity primary key,
     movement_id bigint not null,
     -- null: the other side is no wallet, but outside
     account_id bigint references wallets,
     outside text check (outside in ('gateway', 'sales', 'operator')),
     amount_rials bigint not null check (amount_rials <> 0 and abs(amount_rials) <= 1000000000000000),
     -- of the wallet, after it
     balance_rials bigint,
     ref_type text not null check (ref_type in
       ('topup', 'subscription', 'switch_credit', 'reseller_transfer', 'reseller_autofund', 'adjustment')),
     ref_id bigint,
     description text not null,
     created_at timestamptz not null,
     check ((account_id is null) = (outside is not null)),
     check ((account_id is null) = (balance_rials is null))
   )`,
  `create index ledger_of on ledger (account_id, id) where account_id is not null`,
  `create index ledger_movement on ledger (movement_id)`,

  // What happened stays: nobody changes or deletes it, not even the owner of the tables by mistake.
  `create function refuse_change() returns trigger language plpgsql as $$
   begin
     raise exception '% is never changed: correct it by another movement', tg_table_name
       using errcode = 'restrict_violation';
   end $$`,
  `create trigger ledger_kept before update or delete or truncate on ledger
     for each statement execute function refuse_change()`,

  // At the commit: what goes out of one wallet goes into another, or outside.
  `create function judge_movement() returns trigger language plpgsql as $$
   begin
     if (select sum(amount_rials) <> 0 or count(*) <> 2 from ledger where movement_id = new.movement_id) then
       raise exception 'the movement % is not two rows that add up to zero', new.movement_id
         using errcode = 'integrity_constraint_violation';
     end if;
     return null;
   end $$`,
  `create constraint trigger ledger_adds_up after insert on ledger
     deferrable initially deferred for each row execute function judge_movement()`,

  `create table invoice_years (
     year integer primary key,
     last integer not null
   )`,
  `create table invoices (
     id bigint generated always as identity primary key,
     year integer not null,
     number integer not null,
     account_id bigint not null references accounts,
     -- as they were on that day
     buyer_name text,
     buyer_email text not null,
     domain_id bigint,
     domain text,
     subscription_id bigint,
     movement_id bigint not null,
     -- [{description, amount_rials}], which add up to the total
     lines jsonb not null,
     total_rials bigint not null,
     period_start timestamptz,
     period_end timestamptz,
     issued_at timestamptz not null,
     unique (year, number)
   )`,
  `create index invoices_of on invoices (account_id, id)`,
  `create index invoices_of_domain on invoices (domain_id, id)`,
  `create index invoices_of_subscription on invoices (subscription_id)`,
  `create trigger invoices_kept before update or delete or truncate on invoices
     for each statement execute function refuse_change()`,

  // Both run with the rights of the tables' owner: workers do not read accounts. A reseller that is switched off pays for nobody.
  `create function providers_of(accounts_asked bigint[])
     returns table (account_id bigint, provider_id bigint, is_reseller boolean)
     language sql stable security definer set search_path = public, pg_temp as $$
     select a.id, p.id, a.is_reseller from accounts a left join accounts p on p.id = a.provider_id and p.active
     where a.id = any(accounts_asked) $$`,
  `revoke all on function providers_of(bigint[]) from public`,
  // The row of the year is locked until the commit, so a number that is rolled back is given again.
  `create function issue_invoice(buyer bigint, about_domain bigint, about_subscription bigint, movement bigint,
       what jsonb, total bigint, from_at timestamptz, until_at timestamptz, at timestamptz) returns bigint
     language plpgsql security definer set search_path = public, pg_temp as $$
   declare
     its_year integer := extract(year from at at time zone 'UTC');
     its_number integer;
     its_id bigint;
   begin
     insert into invoice_years as y (year, last) values (its_year, 1)
       on conflict (year) do update set last = y.last + 1 returning last into its_number;
     insert into invoices (year, number, account_id, buyer_name, buyer_email, domain_id, domain, subscription_id,
         movement_id, lines, total_rials, period_start, period_end, issued_at)
       select its_year, its_number, a.id, a.name, a.email, about_domain,
         (select d.name from domains d where d.id = about_domain), about_subscription,
         movement, what, total, from_at, until_at, at
       from accounts a where a.id = buyer
       returning id into strict its_id;
     return its_id;
   end $$`,
  `revoke all on function issue_invoice(bigint, bigint, bigint, bigint, jsonb, bigint, timestamptz, timestamptz, timestamptz)
     from public`,
];
