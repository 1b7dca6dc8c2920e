-- Requests that edges report.

-- Batches of requests that edges have reported, so that a repeat is recognized.
create table edge_batches (
  edge_id bigint not null references edges on delete cascade,
  -- The name that the edge gave the batch.
  batch text not null check (batch ~ '^[A-Za-z0-9_-]{1,64}$'),
  at timestamptz not null default clock_timestamp(),
  accepted integer not null,
  dropped_lines integer not null,
  dropped_times integer not null,
  dropped_hosts integer not null,
  primary key (edge_id, batch)
);
create index edge_batches_at on edge_batches (at);

-- One row: the key of the hash by which a visitor is recognized. It has 244 random bits, because version and variant of
-- a UUID are not random.
create table visitor_key (
  single boolean primary key default true check (single),
  key bytea not null default decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')
);
insert into visitor_key default values;
