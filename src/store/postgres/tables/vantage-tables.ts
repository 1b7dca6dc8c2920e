// Observers at other places, and what they are asked.

import type { ColumnType, Generated } from 'kysely';

/** An observer elsewhere. */
interface VantagesTable {
  name: string;
  /** The operator's label: vantages of one network are one voice. */
  network: string;
  public_key: string;
  given_address: string | null;
  seen_address: string | null;
  created_at: Generated<Date>;
  seen_at: Date | null;
  answers: Generated<number>;
  dropped: Generated<number>;
}

interface VantageJobsTable {
  id: string;
  /** The jobs that one check made. */
  ask: string;
  vantage: string;
  name: string;
  fresh: boolean;
  thorough: boolean;
  deadline: Date;
  taken_at: Date | null;
  answered_at: Date | null;
  evidence: ColumnType<unknown, string | null, string | null>;
}

interface VantageNoncesTable {
  vantage: string;
  nonce: string;
  at: Date;
}

export interface VantageTables {
  vantages: VantagesTable;
  vantage_jobs: VantageJobsTable;
  vantage_nonces: VantageNoncesTable;
}
