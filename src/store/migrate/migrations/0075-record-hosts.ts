// The index for NS, MX and SRV records that name a host. It replaces the one for NS records.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // The host is the last word of `destination`, without a final dot.
  await sql`
    create index records_host on records (domain_id, (lower(split_part(destination, ' ', -1) collate "C")))
    where type in ('NS', 'MX', 'SRV') and not managed`.execute(db);
  await sql`drop index records_delegated_host`.execute(db);
}
