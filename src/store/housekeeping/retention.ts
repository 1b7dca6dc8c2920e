// Selects the rows that are no longer needed, and deletes them in batches, so that no request waits long.

import { sql } from 'kysely';
import { HOLDERS_KEPT_MS } from '../../checks/claims/name-holders.ts';
import { SIGHTINGS_KEPT_MS } from '../../checks/claims/sightings.ts';
import type { Database } from '../postgres/database.ts';

/** SQL conditions of the rows to delete, by table. */
export type Retention = Readonly<Record<string, string>>;

const TWO_YEARS_AGO = `now() - interval '730 days'`;

/** Rows that the core deletes hourly. Features add theirs. */
export const RETENTION: Retention = {
  // A session, and the cookie of a browser, is no longer valid by then.
  sessions: `used_at < now() - interval '31 days' or created_at < now() - interval '91 days'`,
  account_devices: `used_at < now() - interval '400 days'`,
  account_links: `expires_at < now()`,
  identity_proofs: `expires_at < now()`,
  sign_in_failures: `kept_until < now()`,
  takeover_mails: `at < now() - interval '1 day'`,
  mails: `created_at < now() - interval '1 day'`,
  invites: `expires_at < now() - interval '90 days'`,
  invite_windows: `ends_at < now()`,
  // Longer than the 24 hours for which a line may wait at its edge.
  edge_batches: `at < now() - interval '26 hours'`,
  name_holders: `active_at <= now() - interval '${HOLDERS_KEPT_MS / 1000} seconds'`,
  ns_sightings: `last_seen_at <= now() - interval '${SIGHTINGS_KEPT_MS / 1000} seconds'`,
  swept_names: `ended_at < now() - interval '90 days'
    and not exists (select from ns_sightings n where n.name = swept_names.name)`,
  // Rights that are no longer needed by a domain of the account or a delegation that was seen.
  ns_rights: `made_at <= ${TWO_YEARS_AGO}
    and not exists (select from domains d where d.name = ns_rights.name and d.account_id = ns_rights.account_id
      and (d.deleted_at is null or d.deleted_at > ${TWO_YEARS_AGO}))
    and not exists (select from ns_sightings s where s.name = ns_rights.name and s.names && ns_rights.names
      and s.last_seen_at > ${TWO_YEARS_AGO})`,
  // Only takeovers of the last day count. Older ones are kept for operators.
  name_takeovers: `at < now() - interval '90 days'`,
  // Secondaries query the SOA more often than this. Rows of deleted zones and peers are deleted with them.
  transfer_reports: `reported_at < now() - interval '30 days'`,
  notify_orders: `at < now() - interval '1 hour'`,
  // Nodes delete their rows themselves. These are of nodes that have stopped.
  dns_updates: `at < now() - interval '1 minute'`,
  // A message is valid for 5 minutes (RFC 8945 §10).
  seen_updates: `at < now() - interval '1 hour'`,
};

/** Small, because deleting a row may also delete many rows that refer to it, such as those of a purge at each edge. */
const BATCH_ROWS = 1000;

/** Deletes the rows of each table. If one table fails, continues with the others, and throws its error at the end. */
export async function deleteOld(db: Database, retention: Retention): Promise<void> {
  const errors: unknown[] = [];
  for (const [table, condition] of Object.entries(retention)) {
    // The condition is repeated, so that a row that another transaction has changed meanwhile is kept.
    const statement = `delete from ${table} where ctid = any(array(
      select ctid from ${table} where ${condition} limit ${BATCH_ROWS})) and (${condition})`;
    try {
      for (let deleted = BATCH_ROWS; deleted === BATCH_ROWS; )
        deleted = Number((await sql.raw(statement).execute(db)).numAffectedRows);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
