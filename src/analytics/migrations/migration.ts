// The form of a migration of the analytics store, and the settings of all its tables.

export interface AnalyticsMigration {
  /** Never changes, because applied migrations are recorded by name. */
  readonly name: string;
  /** Each may run again without effect (`IF NOT EXISTS`), even concurrently in another process. */
  readonly statements: readonly string[];
}

/** Drops repeated blocks, acknowledges inserts that are on disk, and drops old partitions as a whole. */
export const KEPT_SAFE =
  'non_replicated_deduplication_window = 100000, fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1';
