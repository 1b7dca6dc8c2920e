// The tables as Kysely sees them. Names are folded presentation text with the final dot (readable in psql, any octet
// through escapes); 64-bit counters are numbers, since they count from 1 (see `connectionTypes`).

import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

type Timestamp = ColumnType<Date, Date | undefined, Date>;

export type ZoneKind = 'operator' | 'domain';
export type ChangeSource = 'cli' | 'migrate' | 'demo' | 'test';
export type ChangeOperation = 'zone.save' | 'zone.unload';

export interface ZonesTable {
  id: GeneratedAlways<number>;
  name: string;
  kind: ZoneKind;
  /** The change that wrote this content, with its mark: together they identify the content. */
  version: number;
  mark: number;
  records: number;
  /** Rows and tombstones are complete since this version; who holds an older one loads the whole zone. */
  complete_since: Generated<number>;
  deleted_at: Date | null;
}

export interface ZoneRecordsTable {
  zone_id: number;
  owner: string;
  type: number;
  ttl: number;
  rdata: Buffer;
  /** The version of the zone that wrote, changed or removed this row. */
  version: number;
  removed: Generated<boolean>;
}

export interface ChangesTable {
  /** Also the version of the zone: one global sequence, drawn under the lock of the zone's row. */
  id: number;
  zone_id: number;
  zone: string;
  operation: ChangeOperation;
  source: ChangeSource;
  actor: string | null;
  at: Timestamp;
  xid: Generated<string>;
  mark: number;
}

export interface NodesTable {
  name: string;
  instance: string;
  started_at: Timestamp;
  seen_at: Timestamp;
  left_at: Date | null;
  loaded: boolean;
  epoch: string | null;
  /** The newest change that the node has applied. */
  position: number | null;
  /** Every change whose transaction this snapshot sees is served. */
  snapshot: string | null;
  zones: number;
  records: number;
  held_id: string | null;
  held_since: Date | null;
  held_zones: number;
  confirmed_id: string | null;
}

export interface FeedTable {
  single: Generated<true>;
  epoch: Generated<string>;
  /** Changes of transactions up to this one may have been purged. */
  purged_xid: Generated<string>;
  purged_at: Generated<Date>;
}

export interface SettingsTable {
  name: string;
  value: ColumnType<unknown, string, string>;
}

export interface Schema {
  zones: ZonesTable;
  zone_records: ZoneRecordsTable;
  changes: ChangesTable;
  nodes: NodesTable;
  feed: FeedTable;
  settings: SettingsTable;
}
