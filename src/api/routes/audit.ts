// Lists the audit log: of one domain, of one account, or of the whole service.

import { z } from 'zod';
import { ACTION_NAMES, ruleOf, TARGET_KINDS } from '../../store/audit/audit-actions.ts';
import {
  type AuditFilter,
  type AuditRow,
  countAudit,
  listAudit as loadAudit,
} from '../../store/audit/load-audit.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Problem } from '../answers/problem.ts';
import type { StreamedArray } from '../answers/streams.ts';
import { answerList, type ListCall, logQuery, pagesById } from '../calls/answer-list.ts';
import { admin, domain, type Route, route, session } from '../calls/route.ts';
import { mayTrace, printActor, type Viewer } from '../print/print-account.ts';
import { ACTOR_KINDS } from '../schemas/change.ts';
import { Id, integerText, listText, Timestamp } from '../schemas/fields.ts';

const fields = (when: string) =>
  z.record(z.string(), z.unknown()).optional().describe(`What differs, as it was ${when}. Never a secret.`);

const AuditEntry = z
  .object({
    id: Id,
    at: Timestamp,
    actor: z
      .object({
        kind: z.enum(ACTOR_KINDS),
        user_id: Id.optional(),
        key_id: Id.optional(),
        address: z.string().optional(),
        name: z.string().optional().describe('Of the command line: who ran it. For global admins only.'),
      })
      .describe(
        'Of a sign-in that failed only where it came from. Of operators customers see no address and no key.',
      ),
    action: z.enum(ACTION_NAMES),
    target: z.object({
      kind: z.enum(TARGET_KINDS),
      id: Id.optional(),
      name: z.string().optional().describe('It stays when what it names is gone.'),
    }),
    user_id: Id.optional().describe('The account that it is about.'),
    domain_id: Id.optional().describe('The domain that it is about.'),
    change_id: Id.optional().describe('The change that tells more.'),
    before: fields('before'),
    after: fields('after'),
  })
  .meta({ id: 'AuditEntry' });

function printAudit(row: AuditRow, viewer: Viewer): z.input<typeof AuditEntry> {
  const { id, at, action, accountId, domainId, changeId, targetName, before, after } = row;
  const { target: kind } = ruleOf(action);
  const targetId = row.targetId ?? (kind === 'domain' ? domainId : null);
  return {
    id,
    at: at.toISOString(),
    actor: {
      ...printActor(row.actor, mayTrace(row, viewer)),
      // who runs the command line is not for customers
      ...(row.actor.name !== undefined && viewer.isAdmin && { name: row.actor.name }),
    },
    action,
    target: {
      kind,
      ...(targetId !== null && { id: targetId }),
      ...(targetName !== null && { name: targetName }),
    },
    ...(accountId !== null && { user_id: accountId }),
    ...(domainId !== null && { domain_id: domainId }),
    ...(changeId !== null && { change_id: changeId }),
    ...(before !== null && { before }),
    ...(after !== null && { after }),
  };
}

const READ_AT_ONCE = 500;

const AUDIT_QUERY = {
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
function answerAudit(
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
      (page) => loadAudit(db, filter, page),
      ({ id }) => id,
    ),
    count: () => countAudit(db, filter),
    print: async (rows) => rows.map((row) => printAudit(row, call.caller.account)),
    readAtOnce: READ_AT_ONCE,
  });
}

const answerHeaders = ['Link', 'X-Total-Count'] as const;

const listDomainAudit = route(domain('members.manage', { whileDisabled: true, wholeKeys: true }), {
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

const listOwnAudit = route(session(), {
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

const id = () => integerText(1, Number.MAX_SAFE_INTEGER).optional();
// Without `count`: counting the log would read all of it.
const { count: _, ...query } = AUDIT_QUERY;

const listAudit = route(admin, {
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

export const AUDIT_ROUTES: readonly Route[] = [listDomainAudit, listOwnAudit, listAudit];
