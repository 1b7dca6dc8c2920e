// Invoices say who sold and which reseller paid a part, so that what is given back goes where it came from; top-ups can be
// cancelled; a debt that only credits settled is remembered; members remember who made them members.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table invoices
     -- null: it was made before this was stored; empty: nobody was named
     add column seller text,
     -- the reseller who paid a part of it (reseller_autofund), and how much
     add column funded_by bigint references accounts,
     add column funded_rials bigint not null default 0 check (funded_rials >= 0),
     add check ((funded_by is null) = (funded_rials = 0)),
     -- more was added where a client owed: that paid its debt
     add check (funded_rials <= abs(total_rials))`,
  // A charge is funded just before it is made: between the invoice before and this one, by the numbers of movements.
  `alter table invoices disable trigger invoices_kept`,
  `update invoices i set funded_by = f.reseller, funded_rials = least(f.rials, i.total_rials)
   from (
     select i.id, l.account_id as reseller, -l.amount_rials as rials
     from (
       select id, account_id, subscription_id, movement_id, issued_at,
         lag(movement_id, 1, 0::bigint) over (partition by subscription_id order by movement_id) as before
       from invoices where total_rials > 0 and subscription_id is not null) i
     join ledger l on l.ref_type = 'reseller_autofund' and l.ref_id = i.subscription_id and l.amount_rials < 0
       and l.account_id <> i.account_id and l.created_at = i.issued_at
       and l.movement_id > i.before and l.movement_id < i.movement_id) f
   where f.id = i.id`,
  `alter table invoices enable trigger invoices_kept`,

  // The new parameters have defaults: processes of the version before call it as they did.
  `drop function issue_invoice(bigint, bigint, bigint, bigint, jsonb, bigint, timestamptz, timestamptz, timestamptz)`,
  `create function issue_invoice(buyer bigint, about_domain bigint, about_subscription bigint, movement bigint,
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
   end $$`,
  `revoke all on function issue_invoice(bigint, bigint, bigint, bigint, jsonb, bigint, timestamptz, timestamptz,
     timestamptz, text, bigint, bigint) from public`,

  // Whose owner has cancelled it. What is paid all the same is credited.
  `alter table payments add column cancelled_at timestamptz, add check (cancelled_at is null or cancelled_at >= created_at)`,

  `alter table wallets
     -- what was credited for unused time since the debt began, and was not spent since
     add column given_back_rials bigint not null default 0 check (given_back_rials >= 0),
     -- how long the debt had lasted when such credits alone brought the balance to zero or above
     add column debt_ms bigint check (debt_ms >= 0),
     add check (debt_ms is null or negative_since is null)`,

  // Null: an operator, or the account itself.
  `alter table memberships add column granted_by bigint references accounts`,
  `update memberships m set granted_by = i.invited_by
   from (
     select distinct on (domain_id, accepted_by) domain_id, accepted_by, invited_by from invites
     where status = 'accepted' order by domain_id, accepted_by, ended_at desc, id desc) i
   where i.domain_id = m.domain_id and i.accepted_by = m.account_id`,
  // A client invites nobody: whose invite is forgotten was its reseller's.
  `update memberships m set granted_by = a.provider_id
   from domains d join accounts a on a.id = d.account_id
   where d.id = m.domain_id and m.granted_by is null and a.provider_id is not null and not exists (
     select from invites i where i.status = 'accepted' and i.domain_id = m.domain_id and i.accepted_by = m.account_id)`,
];
