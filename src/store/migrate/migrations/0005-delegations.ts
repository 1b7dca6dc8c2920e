// The index for the question whether some NS of a domain names a host: then addresses below a delegation are glue.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // By the host, not by the type: a domain may have nothing but NS. In `destination` it has no final dot.
  await sql`
    create index records_delegated_host on records (domain_id, (lower(destination collate "C")))
    where type = 'NS' and not managed`.execute(db);
}
