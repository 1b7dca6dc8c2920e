// The tables of uptime, as Kysely sees them.

import type { Generated, GeneratedAlways } from 'kysely';

interface UptimeRoundTable {
  id: Generated<number>;
  /** The last minute that is judged, since 1970; null: none yet. */
  judged: number | null;
  lease_until: Generated<Date>;
}

interface UptimeStatesTable {
  domain_id: number;
  judged: number;
  /** JSON, as in edge/uptime/judge-minute.ts. */
  state: unknown;
}

interface UptimeIncidentsTable {
  id: GeneratedAlways<number>;
  domain_id: number;
  started_at: Date;
  ended_at: Date | null;
  requests: number;
  failures: number;
  noted_at: Generated<Date>;
  told: Generated<boolean>;
}

interface OutageMailsTable {
  account_id: number;
  hour: Date;
  mails: number;
}

export interface UptimeTables {
  uptime_round: UptimeRoundTable;
  uptime_states: UptimeStatesTable;
  uptime_incidents: UptimeIncidentsTable;
  outage_mails: OutageMailsTable;
}
