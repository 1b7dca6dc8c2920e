// Findings of consumed catalogs.

/**
 * `CATALOG_BROKEN`: the zone is not a valid catalog. `CATALOG_HELD`: the version would remove most members. Neither is
 * applied. `CATALOG_NAME_TAKEN`: some members are not copied.
 */
type ConsumerFindingCode = 'CATALOG_BROKEN' | 'CATALOG_HELD' | 'CATALOG_NAME_TAKEN';

export interface ConsumerFinding {
  readonly code: ConsumerFindingCode;
  readonly message: string;
}
