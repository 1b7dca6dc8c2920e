// Rows of the audit log, for tests of what a write records.

import { type AuditRow, listAudit } from '../../../src/store/audit/load-audit.ts';
import type { Database } from '../../../src/store/postgres/database.ts';

/** Loads rows after an id, oldest first. */
export async function auditAfter(db: Database, after = 0): Promise<AuditRow[]> {
  return await listAudit(db, { after }, { limit: 1000, descending: false });
}

/** Returns the newest id, or 0. */
export async function lastAudit(db: Database): Promise<number> {
  return (await listAudit(db, {}, { limit: 1 }))[0]?.id ?? 0;
}
