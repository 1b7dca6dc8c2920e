-- Zone transfers over TLS (RFC 9103).

-- This step and the next one lock these tables, here in the order in which a change of a domain does. In another order,
-- changes that are in progress would end in deadlocks.
lock table secondaries, peers in access exclusive mode;
lock table transfer_policies, zones, domains in share row exclusive mode;

alter table peers
  -- `opportunistic`: TLS is tried first, and nothing is verified. `strict`: only TLS, with a verified server.
  add column tls text not null default 'off' check (tls in ('off', 'opportunistic', 'strict')),
  -- NOTIFY and messages without TLS are sent to `port`.
  add column tls_port integer not null default 853 check (tls_port between 1 and 65535),
  -- The name in the server's certificate; null if only pins are verified. Without a final dot.
  add column tls_name text,
  -- SHA-256 of public keys (SubjectPublicKeyInfo), of which the server must have one. A strict peer without name and pins
  -- may transfer zones from this fleet, but is not a primary.
  add column tls_pins bytea[] not null default '{}' check (cardinality(tls_pins) <= 4);
