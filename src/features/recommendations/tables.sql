-- Recommendations that the users of a domain dismissed.
create table dismissed_recommendations (
  domain_id bigint not null references domains on delete cascade,
  code text not null,
  -- The SHA-256 of what the recommendation was about.
  subject bytea not null,
  at timestamptz not null default now(),
  primary key (domain_id, code)
);
