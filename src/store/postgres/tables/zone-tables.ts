// Zones as nodes answer them, the feed that tells of their changes, and the nodes that follow it.

import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { ChangeSource } from './change-tables.ts';

type Timestamp = ColumnType<Date, Date | undefined, Date>;

export type ZoneKind = 'operator' | 'domain';

export type ChangeOperation = 'zone.save' | 'zone.unload';

interface ZonesTable {
  id: GeneratedAlways<number>;
  name: string;
  kind: ZoneKind;
  /** The change that wrote this content, with its mark: together they identify the content. */
  version: number;
  mark: number;
  records: number;
  /** Rows and tombstones are complete since this version; a node with an older one loads the whole zone. */
  complete_since: Generated<number>;
  deleted_at: Date | null;
}

interface ZoneRecordsTable {
  zone_id: number;
  owner: string;
  type: number;
  ttl: number;
  rdata: Buffer;
  /** The version of the zone that wrote, changed or removed this row. */
  version: number;
  removed: Generated<boolean>;
  /** Of NSEC the canonical key of its owner, of NSEC3 the hash: octets in the order of the ring. */
  place: Buffer | null;
}

interface ChangesTable {
  /** The id, which is also the version of the zone: one global sequence, drawn under the lock of the zone's row. */
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

interface NodesTable {
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
  /** Zones whose newest content it does not serve; null: over 1,000. */
  unserved: number[] | null;
  abilities: Generated<string[]>;
  image_octets: number | null;
  image_capacity: number | null;
  version: string | null;
  /** Since the start of its process. */
  answered: number | null;
  dropped: number | null;
  /** An operator said that it is gone for good: keys no longer wait for it. */
  forgotten_at: Date | null;
}

interface FeedTable {
  single: Generated<true>;
  epoch: Generated<string>;
  /** Changes of transactions up to this one may have been purged. */
  purged_xid: Generated<string>;
  /** Of `edge_changes`. */
  edge_purged_xid: Generated<string>;
  purged_at: Generated<Date>;
}

export interface ZoneTables {
  zones: ZonesTable;
  zone_records: ZoneRecordsTable;
  changes: ChangesTable;
  nodes: NodesTable;
  feed: FeedTable;
}
