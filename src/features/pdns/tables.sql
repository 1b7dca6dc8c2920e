-- Properties that clients of the PowerDNS API store with a zone.

create table pdns_metadata (
  domain_id bigint not null references domains on delete cascade,
  -- A kind of metadata, or the name of another property in lower case.
  kind text collate "C" not null,
  items text[] not null,
  primary key (domain_id, kind)
);
