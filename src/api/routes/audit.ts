// Lists the audit log of a domain, of an account, or of the whole service.

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

const changed = (when: string) =>
  z
    .record(z.string(), z.unknown())
    .optional()
    .describe(`The fields that changed, ${when} the action. Never contains secrets.`);

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
        name: z
          .string()
          .optional()
          .describe('For the command line: the person who ran it. Only for global admins.'),
      })
      .describe(
        'For a failed sign-in, only the address. Customers do not see addresses and keys of operators.',
      ),
    action: z.enum(ACTION_NAMES),
    target: z.object({
      kind: z.enum(TARGET_KINDS),
      id: Id.optional(),
      name: z
        .string()
        .optional()
        .describe('The name at the time of the action. It remains after the target is deleted.'),
    }),
    user_id: Id.optional().describe('The account concerned.'),
    domain_id: Id.optional().describe('The domain concerned.'),
    change_id: Id.optional().describe('The change with the details.'),
    before: changed('before'),
    after: changed('after'),
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
      // Customers do not see who runs the command line.
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

const ROWS_PER_READ = 500;

const AUDIT_QUERY = {
  action: listText(ACTION_NAMES).optional(),
  actor: listText(ACTOR_KINDS).optional(),
  since: Timestamp.optional().describe('Only rows from this time or later.'),
  until: Timestamp.optional().describe('Only rows from before this time.'),
  ...logQuery('newest'),
};
const AuditQuery = z.object(AUDIT_QUERY);

interface AuditCall extends ListCall {
  readonly query: z.output<typeof AuditQuery>;
  readonly caller: { readonly account: { readonly id: number; readonly isAdmin: boolean } };
}

/** `scope` limits the log to what the caller may see. */
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
    readAtOnce: ROWS_PER_READ,
  });
}

const answerHeaders = ['Link', 'X-Total-Count'] as const;

const listDomainAudit = route(domain('members.manage', { whileDisabled: true, wholeKeys: true }), {
  method: 'GET',
  path: '/domains/{domain}/audit',
  operationId: 'listDomainAudit',
  tag: 'Changes',
  summary: 'Lists the audit log of a domain, newest first.',
  description:
    'Contains every write, with its actor and address. For changes of records or of the status, `change_id` identifies the change. Rows are kept for 400 days.',
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
  summary: 'Lists the sign-ins to your account and the changes to it, newest first.',
  description:
    'At most one failed sign-in per minute is listed. Actions on domains are in the audit logs of the domains. Rows are kept for 400 days.',
  query: z.object(AUDIT_QUERY),
  response: z.array(AuditEntry),
  answerHeaders,
  run: (call) => answerAudit(call.api.db, call, { accountId: call.caller.account.id }),
});

const id = () => integerText(1, Number.MAX_SAFE_INTEGER).optional();
// Without `count`, which would have to read the whole log.
const { count: _, ...query } = AUDIT_QUERY;

const listAudit = route(admin, {
  method: 'GET',
  path: '/admin/audit',
  operationId: 'adminListAudit',
  tag: 'Audit',
  summary: 'Lists the audit log of the service, newest first.',
  query: z.object({
    ...query,
    by: id().describe('The account that acted.'),
    user: id().describe('The account concerned.'),
    domain: id().describe('The id of the domain concerned. It may have been deleted.'),
  }),
  response: z.array(AuditEntry),
  answerHeaders: ['Link'],
  run(call) {
    const { by, user, domain } = call.query;
    return answerAudit(call.api.db, call, { actorId: by, accountId: user, domainId: domain });
  },
});

export const AUDIT_ROUTES: readonly Route[] = [listDomainAudit, listOwnAudit, listAudit];
