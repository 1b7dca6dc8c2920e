// The rows of the audit log, for tests that look at what a write left there.

import { type AuditRow, listAudit } from '../../../src/store/audit/load-audit.ts';
import type { Database } from '../../../src/store/postgres/database.ts';

/** The rows after an id, the oldest first. */
export async function auditAfter(db: Database, after = 0): Promise<AuditRow[]> {
  return await listAudit(db, { after }, { limit: 1000, descending: false });
}

/** The newest id; 0 where there is none. */
export async function lastAudit(db: Database): Promise<number> {
  return (await listAudit(db, {}, { limit: 1 }))[0]?.id ?? 0;
}
