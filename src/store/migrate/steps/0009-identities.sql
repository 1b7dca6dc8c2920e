-- Identities of people at an identity provider (OpenID Connect) that may sign in to an account.
create table account_identities (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts,
  issuer text collate "C" not null,
  -- The provider's own id of the person. It stays the same if the email address changes.
  subject text collate "C" not null,
  -- The email address that the provider reported last. It is only shown.
  email text,
  created_at timestamptz not null default clock_timestamp(),
  used_at timestamptz,
  unique (issuer, subject),
  unique (account_id, issuer)
);

-- Identities that the provider has confirmed, of people who still have to enter the code of two-step sign-in. The hash is
-- the SHA-256 of the browser's cookie.
create table identity_proofs (
  account_id bigint primary key references accounts,
  hash bytea not null unique check (octet_length(hash) = 32),
  identity json not null,
  expires_at timestamptz not null
);
