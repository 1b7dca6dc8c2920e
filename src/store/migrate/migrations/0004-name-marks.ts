// Published records of type 0: marks, which say that a name exists. Names that were published before them, and publish
// nothing else, get theirs from `republishDomains`, as after a change of the edge's addresses.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Not validated, so that no row is read under the lock: all passed the narrower constraint.
  await sql`
    alter table zone_records
      drop constraint zone_records_type_check,
      add constraint zone_records_type_check
        check (type between 1 and 65535 or type = 0 and octet_length(rdata) = 0) not valid`.execute(db);
  await sql`
    with present as (
      select coalesce((select value from settings where name = 'ANSWER_GENERATIONS'),
        '{"edges": 1, "apex": 1, "published": 1}') as value)
    insert into settings as s (name, value)
    select 'ANSWER_GENERATIONS', jsonb_set(value, '{edges}',
      to_jsonb(greatest((value ->> 'edges')::integer, (value ->> 'apex')::integer) + 1))
    from present where exists (select from records where type = 'ANAME' or proxied)
    on conflict (name) do update set value = excluded.value`.execute(db);
}
