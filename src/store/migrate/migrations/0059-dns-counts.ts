// Counts of the nodes' answers on their way to the analytics store. A row is what one node reports at once, under a number: reported
// again it changes nothing. It stays for a while, empty, after workers moved it, so that a late repeat is known.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Nodes write rows without a bound of their own, so a row has one; how many there are is for the housekeeping.
  `create table dns_counts (
     instance uuid not null,
     part integer not null,
     node text not null check (octet_length(node) between 1 and 63),
     minute timestamptz not null,
     zone_ids bigint[] not null check (cardinality(zone_ids) <= 4096),
     types integer[] not null check (cardinality(types) = cardinality(zone_ids)),
     rcodes smallint[] not null check (cardinality(rcodes) = cardinality(zone_ids)),
     counts bigint[] not null check (cardinality(counts) = cardinality(zone_ids)),
     name_zone_ids bigint[] not null check (cardinality(name_zone_ids) <= 512),
     names text[] not null check (cardinality(names) = cardinality(name_zone_ids)),
     name_counts bigint[] not null check (cardinality(name_counts) = cardinality(name_zone_ids)),
     received_at timestamptz not null default clock_timestamp(),
     -- the workers' batch that moves it: its id makes a repeat harmless in the analytics store
     batch uuid,
     claimed_at timestamptz,
     moved_at timestamptz,
     primary key (instance, part),
     constraint names_octets check (octet_length(array_to_string(names, '')) <= 600000)
   )`,
  `create index dns_counts_waiting on dns_counts (received_at) where moved_at is null`,
  `create index dns_counts_batches on dns_counts (batch) where moved_at is null and batch is not null`,
  `create index dns_counts_moved on dns_counts (moved_at) where moved_at is not null`,
];
