// Loads a domain for a check of its own zone.

import { sql } from 'kysely';
import { foldCase, type Name } from '../../dns/name.ts';
import { allOurNameservers, decodePublishSettings, SETTINGS_TEXT } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';

interface ChildDomain {
  readonly name: Name;
  /** Active domains are looked at less often. */
  readonly isActive: boolean;
  /** The delegation for which the check is due, as in its column. */
  readonly wantedNs: readonly string[];
  readonly checkedAt: number | undefined;
  /** All our nameservers, those of the pool too, folded. */
  readonly ownServers: readonly Name[];
}

/** Undefined: the domain is gone, or nothing is delegated to anybody. */
export async function loadChildDomain(db: Database, domainId: number): Promise<ChildDomain | undefined> {
  const { rows } = await sql<ChildRow>`
    select d.name, d.status = 'active' as "isActive", k.wanted_ns as "wantedNs", k.checked_at as "checkedAt",
      ${SETTINGS_TEXT} as settings
    from domains d join child_checks k on k.domain_id = d.id join domain_checks c on c.domain_id = d.id
    where d.id = ${domainId} and d.deleted_at is null and d.zone_id is not null and d.dns_mode = 'managed'
      and d.status in ('pending', 'active', 'moved') and cardinality(c.current_ns) > 0`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    name: decodeNameColumn(row.name),
    isActive: row.isActive,
    wantedNs: row.wantedNs,
    checkedAt: row.checkedAt?.getTime(),
    ownServers: allOurNameservers(decodePublishSettings(row.settings)).map(foldCase),
  };
}

interface ChildRow {
  readonly name: string;
  readonly isActive: boolean;
  readonly wantedNs: readonly string[];
  readonly checkedAt: Date | null;
  readonly settings: string | null;
}
