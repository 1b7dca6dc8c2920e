-- Counts of the nodes' responses, until workers move them to the analytics store.

-- A row contains one numbered report of a node. Reporting it again changes nothing. After workers have moved a row, it
-- stays for a while without its counts, so that a late repeat is recognized. Nodes write these rows directly, so the
-- size of a row is limited here. Housekeeping limits their number.
create table dns_counts (
  instance uuid not null,
  part integer not null,
  node text not null check (octet_length(node) between 1 and 63),
  minute timestamptz not null,
  -- Responses by zone, type and response code: the n-th elements of these four arrays belong together.
  zone_ids bigint[] not null check (cardinality(zone_ids) <= 4096),
  types integer[] not null check (cardinality(types) = cardinality(zone_ids)),
  rcodes smallint[] not null check (cardinality(rcodes) = cardinality(zone_ids)),
  counts bigint[] not null check (cardinality(counts) = cardinality(zone_ids)),
  -- Responses by name, likewise.
  name_zone_ids bigint[] not null check (cardinality(name_zone_ids) <= 512),
  names text[] not null check (cardinality(names) = cardinality(name_zone_ids)),
  name_counts bigint[] not null check (cardinality(name_counts) = cardinality(name_zone_ids)),
  received_at timestamptz not null default clock_timestamp(),
  -- The workers' batch that moves the row. Its id makes a repeat harmless in the analytics store.
  batch uuid,
  claimed_at timestamptz,
  moved_at timestamptz,
  primary key (instance, part),
  constraint names_octets check (octet_length(array_to_string(names, '')) <= 600000)
);
create index dns_counts_waiting on dns_counts (received_at) where moved_at is null;
create index dns_counts_batches on dns_counts (batch) where moved_at is null and batch is not null;
create index dns_counts_moved on dns_counts (moved_at) where moved_at is not null;
