// What a migration of the analytics store is, and the settings that all its tables have.

export interface AnalyticsMigration {
  /** Never changes: what is applied is noted by it. */
  readonly name: string;
  /** Each leaves things as they are when it is run again (`IF NOT EXISTS`), also by another process at the same time. */
  readonly statements: readonly string[];
}

/**
 * Blocks of inserts are remembered, so that a repeat is dropped; what was answered is on the disk; old partitions are dropped
 * whole, not rewritten.
 */
export const KEPT_SAFE =
  'non_replicated_deduplication_window = 100000, fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1';
