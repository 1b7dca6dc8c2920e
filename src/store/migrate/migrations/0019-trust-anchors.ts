// The keys of the root that workers have seen rolled in or revoked (RFC 5011).

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table trust_anchors (
      origin text not null,
      key bytea not null,
      state text not null check (state in ('pending', 'valid', 'missing', 'revoked')),
      since timestamptz not null,
      primary key (origin, key)
    )`.execute(db);
}
