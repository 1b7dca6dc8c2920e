// Bounds what is kept of idempotent requests: large answers as digests, a total for each account, and 30 days.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // digest is set where the answer's body is not kept: SHA-256 of its JSON. `response` has then the status, the headers and
  // perhaps what the body can be made again from. octets counts `response`.
  `alter table idempotency_keys
     add column digest bytea check (octet_length(digest) = 32),
     add column change_id bigint,
     add column octets integer not null default 0 check (octets >= 0)`,
  `update idempotency_keys set change_id = (response->'headers'->>'X-Change-Id')::bigint where response is not null`,
  `update idempotency_keys set digest = sha256(convert_to((response->'body')::text, 'UTF8')),
     response = json_build_object('status', response->'status', 'headers', response->'headers')
     where octet_length(response::text) > 65536`,
  `update idempotency_keys set octets = octet_length(response::text) where response is not null`,
  `create index idempotency_keys_created on idempotency_keys (created_at)`,
  // Whose answers give way, the oldest first.
  `create index idempotency_keys_kept on idempotency_keys (account_id, created_at) where octets > 0`,
  // What each account's answers take. Written last in the transaction of an answer, so that nobody waits for it long.
  `create table idempotency_octets (
     account_id bigint primary key references accounts,
     octets bigint not null
   )`,
  `insert into idempotency_octets (account_id, octets)
     select account_id, sum(octets) from idempotency_keys group by account_id`,
];
