// The tables of edge nodes and of what they are told, as Kysely sees them.

import type { Generated, GeneratedAlways } from 'kysely';

/** What an edge says that it cannot do. */
export interface StoredUnsupported {
  readonly rule_id: number;
  readonly why: string;
}

interface EdgesTable {
  id: GeneratedAlways<number>;
  name: string;
  region: string;
  /** The addresses that proxied names publish. */
  v4: Generated<string[]>;
  v6: Generated<string[]>;
  /** The SHA-256 of the whole token. */
  token_hash: Buffer;
  /** The first characters, so that people can tell tokens apart. */
  token_prefix: string;
  token_made_at: Generated<Date>;
  created_at: Generated<Date>;
  drained_at: Date | null;
  revoked_at: Date | null;
  /** The newest report of its health. */
  seen_at: Date | null;
  /** The newest call of any kind, to half a minute. */
  called_at: Date | null;
  seen_address: string | null;
  software: string | null;
  load: number | null;
  /** How far it has followed the feed, as it says. */
  config_cursor: string | null;
}

interface EdgeUnsupportedTable extends StoredUnsupported {
  readonly edge_id: number;
}

interface EdgeCountriesTable {
  /** ISO 3166-1 alpha-2. */
  country: string;
  region: string;
}

interface EdgeChangesTable {
  name: string;
  version: Generated<number>;
  xid: Generated<string>;
  at: Generated<Date>;
}

interface CachePurgesTable {
  id: GeneratedAlways<number>;
  domain_id: number;
  /** JSON, as in edge/purges/purge-target.ts. */
  target: unknown;
  at: Generated<Date>;
  replaced_by: number | null;
}

interface CachePurgeEdgesTable {
  purge_id: number;
  edge_id: number;
  done_at: Date | null;
  error: string | null;
}

interface EdgeBatchesTable {
  edge_id: number;
  /** As the edge named it. */
  batch: string;
  at: Generated<Date>;
  accepted: number;
  dropped_lines: number;
  dropped_times: number;
  dropped_hosts: number;
}

interface VisitorKeyTable {
  single: Generated<boolean>;
  key: Generated<Buffer>;
}

export interface EdgeTables {
  visitor_key: VisitorKeyTable;
  edge_batches: EdgeBatchesTable;
  cache_purges: CachePurgesTable;
  cache_purge_edges: CachePurgeEdgesTable;
  edges: EdgesTable;
  edge_unsupported: EdgeUnsupportedTable;
  edge_countries: EdgeCountriesTable;
  edge_changes: EdgeChangesTable;
}
