-- Limits on what resellers do.

-- How many clients a reseller has tried to create in the day that began at `since`.
create table client_tries (
  account_id bigint primary key references accounts,
  since timestamptz not null,
  tries integer not null
);
