// Domains that await their first DS are signalled in zones of their nameservers (RFC 9615).

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // `had_ds`: the parent has shown a DS since the zone is signed, so the next one is not the first. `signalled_in`: the zones
  // that were told of it; null: they need not be.
  `alter table signed_zones
     add column had_ds boolean not null default false,
     add column signalled_in bigint[]`,
  `update signed_zones set had_ds = true where phase not in ('signing', 'waiting', 'off')`,
  `create index signed_zones_to_signal on signed_zones (id)
     where phase = 'ds_wanted' and not had_ds and signalled_in is null`,
  `create index signed_zones_to_unsignal on signed_zones (id)
     where signalled_in is not null and (phase <> 'ds_wanted' or had_ds)`,
  `create index signed_zones_signalled on signed_zones (id) where signalled_in is not null`,
];
