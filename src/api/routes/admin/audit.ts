// GET /admin/audit: lists the audit log of the whole service.

import { z } from 'zod';
import { admin, route } from '../../calls/route.ts';
import { AUDIT_QUERY, answerAudit } from '../../lists/page-audit.ts';
import { AuditEntry } from '../../schemas/audit.ts';
import { integerText } from '../../schemas/query-text.ts';

const id = () => integerText(1, Number.MAX_SAFE_INTEGER).optional();
// Without `count`: counting the log would read all of it.
const { count: _, ...query } = AUDIT_QUERY;

export const listAudit = route(admin, {
  method: 'GET',
  path: '/admin/audit',
  operationId: 'adminListAudit',
  tag: 'Audit',
  summary: 'The audit log, newest first.',
  query: z.object({
    ...query,
    by: id().describe('The account that did it.'),
    user: id().describe('The account that it is about.'),
    domain: id().describe('The id of the domain that it is about, also of one that is gone.'),
  }),
  response: z.array(AuditEntry),
  answerHeaders: ['Link'],
  run(call) {
    const { by, user, domain } = call.query;
    return answerAudit(call.api.db, call, { actorId: by, accountId: user, domainId: domain });
  },
});
