// What resolvers of all processes know together.

import type { Generated } from 'kysely';

/** Zones that nodes report, each in the slot of its id's remainder. */
interface AskedNamesTable {
  slot: number;
  zone_id: number;
  asked_at: Generated<Date>;
}

/** An address that was asked. */
interface ResolverAddressesTable {
  address: string;
  /** When it last sent a valid reply, as far as that was reported. */
  replied_at: Date | null;
  /** How many questions in a row brought nothing. */
  silences: number;
  window_at: Date;
  asked: number;
  /** A question is open until then at most. */
  open_until: Date | null;
}

interface ResolverSilencesTable {
  key: string;
  count: number;
  until: Date;
  noted_at: Date;
}

interface ResolverLeasesTable {
  address: string;
  second: number;
  /** How many were granted in that second, and by the newest lease. */
  granted: number;
  newest: number;
}

export interface ResolverTables {
  asked_names: AskedNamesTable;
  resolver_addresses: ResolverAddressesTable;
  resolver_silences: ResolverSilencesTable;
  resolver_leases: ResolverLeasesTable;
}
