// Answers lists of the audit log: of one domain, of one's own account, or all of it.

import { z } from 'zod';
import { ACTION_NAMES } from '../../store/audit/audit-actions.ts';
import { type AuditFilter, type AuditRow, countAudit, listAudit } from '../../store/audit/load-audit.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Problem } from '../answers/problem.ts';
import type { StreamedArray } from '../answers/stream-array.ts';
import { printAudit } from '../print/print-audit.ts';
import type { AuditEntry } from '../schemas/audit.ts';
import { ACTOR_KINDS } from '../schemas/change.ts';
import { listText } from '../schemas/query-text.ts';
import { Timestamp } from '../schemas/timestamp.ts';
import { answerList, type ListCall, logQuery, pagesById } from './paging.ts';

const READ_AT_ONCE = 500;

export const AUDIT_QUERY = {
  action: listText(ACTION_NAMES).optional(),
  actor: listText(ACTOR_KINDS).optional(),
  since: Timestamp.optional().describe('Only rows of that time, or later.'),
  until: Timestamp.optional().describe('Only rows from before that time.'),
  ...logQuery('newest'),
};
const AuditQuery = z.object(AUDIT_QUERY);

interface AuditCall extends ListCall {
  readonly query: z.output<typeof AuditQuery>;
  readonly caller: { readonly account: { readonly id: number; readonly isAdmin: boolean } };
}

/** `scope`: what the caller may see of it. */
export function answerAudit(
  db: Database,
  call: AuditCall,
  scope: Pick<AuditFilter, 'accountId' | 'actorId' | 'domainId'>,
): Promise<z.input<typeof AuditEntry>[] | StreamedArray<z.input<typeof AuditEntry>> | Problem> {
  const { after, action, actor, since, until, sort } = call.query;
  const filter: AuditFilter = {
    ...scope,
    after,
    actions: action,
    actors: actor,
    since: since === undefined ? undefined : new Date(since),
    until: until === undefined ? undefined : new Date(until),
  };
  return answerList(call, {
    load: pagesById<AuditRow>(
      sort?.descends ?? true,
      (page) => listAudit(db, filter, page),
      ({ id }) => id,
    ),
    count: () => countAudit(db, filter),
    print: async (rows) => rows.map((row) => printAudit(row, call.caller.account)),
    readAtOnce: READ_AT_ONCE,
  });
}
