// Lists the audit log of a domain, and of the caller's account.

import { z } from 'zod';
import { domain, route, session } from '../calls/route.ts';
import { AUDIT_QUERY, answerAudit } from '../lists/page-audit.ts';
import { AuditEntry } from '../schemas/audit.ts';

const answerHeaders = ['Link', 'X-Total-Count'] as const;

export const listDomainAudit = route(domain('members.manage', { whileDisabled: true, wholeKeys: true }), {
  method: 'GET',
  path: '/domains/{domain}/audit',
  operationId: 'listDomainAudit',
  tag: 'Changes',
  summary: 'The audit log of a domain, newest first.',
  description:
    'Every write, with who made it and from where; of a change of records or of the status `change_id` tells which. Kept for 400 days.',
  query: z.object(AUDIT_QUERY),
  response: z.array(AuditEntry),
  answerHeaders,
  run: (call) => answerAudit(call.api.db, call, { domainId: call.domain.id }),
});

export const listOwnAudit = route(session(), {
  method: 'GET',
  path: '/users/me/audit',
  operationId: 'listOwnAudit',
  tag: 'Your account',
  summary: 'Where and when somebody signed in to your account, and what was done to it, newest first.',
  description:
    'Of sign-ins that failed at most one a minute is here. What is done to domains is in their own lists. Kept for 400 days.',
  query: z.object(AUDIT_QUERY),
  response: z.array(AuditEntry),
  answerHeaders,
  run: (call) => answerAudit(call.api.db, call, { accountId: call.caller.account.id }),
});
