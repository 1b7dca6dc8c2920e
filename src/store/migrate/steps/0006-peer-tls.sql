-- Zone transfers over TLS (RFC 9103).

alter table peers
  -- `opportunistic`: TLS is tried first, and nothing is verified. `strict`: only TLS, with a verified server.
  add column tls text not null default 'off' check (tls in ('off', 'opportunistic', 'strict')),
  -- The name in the server's certificate; null if only pins are verified. Without a final dot.
  add column tls_name text,
  -- SHA-256 of public keys (SubjectPublicKeyInfo), of which the server must have one.
  add column tls_pins bytea[] not null default '{}' check (cardinality(tls_pins) <= 4),
  add constraint peers_strict check (tls <> 'strict' or tls_name is not null or cardinality(tls_pins) > 0);
