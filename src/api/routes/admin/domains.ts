// /admin/domains: lists the domains of all accounts, and makes status changes that only operators may make.

import { z } from 'zod';
import { approveDomain } from '../../../store/change/approve-domain.ts';
import { changeStatus } from '../../../store/change/change-status.ts';
import { restoreDomain } from '../../../store/change/restore-domain.ts';
import { setSuspended, type UpdatedDomain } from '../../../store/change/update-domain.ts';
import { waitForCheck } from '../../../store/checks/check-runs.ts';
import { type Domain, suspensionOf } from '../../../store/domains/domain.ts';
import {
  countDomains,
  DOMAIN_SORTS,
  type DomainFilter,
  listDomains as loadPage,
} from '../../../store/domains/list-domains.ts';
import { loadDomainById } from '../../../store/domains/load-domains.ts';
import { DNS_MODES, DOMAIN_STATUSES } from '../../../zone/domain/domain-status.ts';
import { whyUnchecked } from '../../../zone/domain/why-unchecked.ts';
import { printWithoutDot } from '../../../zone/name-text.ts';
import { enqueueNow, jobRequestOf } from '../../actions/enqueue.ts';
import { invalid, notFound, Problem, problem, unavailable } from '../../answers/problem.ts';
import { asActor } from '../../callers/caller.ts';
import { answerList, PAGE_QUERY } from '../../calls/answer-list.ts';
import type { CallOf } from '../../calls/call.ts';
import { admin, type Route, route } from '../../calls/route.ts';
import { printCheck } from '../../print/print-check.ts';
import { printAdminDomain, printAdminDomains } from '../../print/print-domain.ts';
import { AdminDomain, Approval } from '../../schemas/admin/domain.ts';
import { Check } from '../../schemas/checks/check.ts';
import { booleanText, idText, integerText, listText, sortText } from '../../schemas/fields.ts';
import { readNameservers } from '../domain.ts';

const tag = 'Domains';

const listDomains = route(admin, {
  method: 'GET',
  path: '/admin/domains',
  operationId: 'adminListDomains',
  tag,
  summary: 'Lists the domains of all accounts.',
  query: z.object({
    search: z.string().max(253).optional().describe('Part of the name, as A-labels or Unicode.'),
    status: listText(DOMAIN_STATUSES).optional(),
    dns_mode: z.enum(DNS_MODES).optional(),
    user: integerText(1, Number.MAX_SAFE_INTEGER).optional().describe('Only domains of this account.'),
    deleted: booleanText.optional().describe('If true, lists only deleted domains that can be restored.'),
    sort: sortText(DOMAIN_SORTS)
      .optional()
      .describe('A leading `-` sorts in descending order. Default: by name.'),
    ...PAGE_QUERY,
  }),
  response: z.array(AdminDomain),
  answerHeaders: ['Link', 'X-Total-Count'],
  run(call) {
    const { api, caller, query } = call;
    const { search, status, dns_mode, user, deleted, sort } = query;
    const asking = { accountId: caller.account.id, isAdmin: true };
    const filter: DomainFilter = {
      ...(search && { search: search.normalize('NFC').toLowerCase() }),
      ...(status && { statuses: status }),
      ...(dns_mode && { dnsMode: dns_mode }),
      ...(user !== undefined && { accountId: user }),
      ...(deleted && { deleted }),
    };
    const order = { sort: sort?.column ?? ('name' as const), descending: sort?.descends ?? false };
    return answerList(call, {
      load: (page) => loadPage(api.db, asking, filter, order, page),
      count: () => countDomains(api.db, asking, filter),
      print: (domains) => printAdminDomains(api.db, domains, api),
    });
  },
});

type OneCall = CallOf<'admin', { id: number }, unknown, unknown, Domain>;

/** Common members of the routes for one domain. Only `restore` finds deleted domains. */
export const oneDomain = {
  params: z.object({ id: idText }),
  async find({ api, params }: CallOf<'admin', { id: number }>) {
    const domain = await loadDomainById(api.db, params.id);
    return domain?.deletedAt === null ? domain : undefined;
  },
  finds: 'domain',
};

const getDomain = route(admin, {
  method: 'GET',
  path: '/admin/domains/{id}',
  operationId: 'adminGetDomain',
  tag,
  summary: 'Returns a domain.',
  ...oneDomain,
  response: AdminDomain,
  run: ({ api, found }) => printAdminDomain(api.db, found, api),
});

const MOVES = [
  ['ban', 'Bans a domain: it is no longer served, and its owner can only read it.'],
  ['unban', 'Lifts a ban: the domain starts over like a new one.'],
  ['disable', 'Disables a domain: it is no longer served, but its owner can enable it again.'],
  ['enable', 'Enables a disabled domain, so that it is served again.'],
] as const;

const MOVE_ROUTES = MOVES.map(([event, summary]) =>
  route(admin, {
    method: 'POST',
    path: `/admin/domains/{id}/${event}`,
    operationId: `admin${nameOf(event)}Domain`,
    tag,
    summary,
    audit: 'changes',
    ...oneDomain,
    response: AdminDomain,
    problems: ['wrong_state', 'domain_taken'],
    async run(call) {
      const by = asActor(call.caller);
      const order = { domainId: call.found.id, by, source: 'status', event, exempt: true } as const;
      return await answerMoved(call, await changeStatus(call.api.db, order));
    },
  }),
);

const SUSPENSIONS = [
  ['suspend', true, 'Suspends a domain that is not paid for. DNS does not change.'],
  ['resume', false, 'Ends the suspension of a domain.'],
] as const;

const SUSPENSION_ROUTES = SUSPENSIONS.map(([word, suspended, summary]) =>
  route(admin, {
    method: 'POST',
    path: `/admin/domains/{id}/${word}`,
    operationId: `admin${nameOf(word)}Domain`,
    tag,
    summary,
    audit: 'domain.suspend',
    ...oneDomain,
    response: AdminDomain,
    problems: ['wrong_state'],
    async run(call) {
      const { api, found, audit } = call;
      const result = await setSuspended(api.db, { domainId: found.id, suspended });
      const answer = await answerMoved(call, result);
      const after = result.kind === 'updated' ? result.domain : found;
      const isSame = found.suspendedBy.join() === after.suspendedBy.join();
      audit(
        isSame ? undefined : { ...about(found), before: suspensionOf(found), after: suspensionOf(after) },
      );
      return answer;
    },
  }),
);

const approve = route(admin, {
  method: 'POST',
  path: '/admin/domains/{id}/approve',
  operationId: 'adminApproveDomain',
  tag,
  summary:
    'Approves a domain for its owner: lets the nameservers that the parent shows now, or a set of this service, prove it.',
  description:
    'A check, which is scheduled immediately, decides whether the domain becomes active. Responds 409 if another account has the right to the name.',
  audit: 'domain.approve',
  ...oneDomain,
  body: Approval.nullish(),
  response: AdminDomain,
  problems: ['wrong_state'],
  async run(call) {
    const { api, caller, found, body, audit } = call;
    const set = body?.svc_ns && readNameservers(body.svc_ns);
    if (set instanceof Problem) return set;
    const take = body?.take ?? false;
    const order = { domainId: found.id, by: asActor(caller), source: 'api', take } as const;
    const approved = await approveDomain(api.db, { ...order, ...(set !== undefined && { set }) });
    if (approved.kind === 'refused') {
      const { code, message } = approved;
      if (code === 'not_ours') return invalid([{ field: 'svc_ns', error: message }]);
      return code === 'right_taken' ? new Problem(409, message) : problem('wrong_state', message);
    }
    const isSame = approved.kind === 'updated' && approved.changeId === undefined;
    const after = { take, ...(set && { svc_ns: set.map(printWithoutDot) }) };
    audit(isSame ? undefined : { ...about(found), after });
    return await answerMoved(call, approved);
  },
});

const restore = route(admin, {
  method: 'POST',
  path: '/admin/domains/{id}/restore',
  operationId: 'adminRestoreDomain',
  tag,
  summary: 'Restores a deleted domain with its records, within 30 days.',
  audit: 'changes',
  params: oneDomain.params,
  find: ({ api, params }: CallOf<'admin', { id: number }>) => loadDomainById(api.db, params.id),
  finds: oneDomain.finds,
  response: AdminDomain,
  problems: ['wrong_state', 'domain_taken'],
  async run({ api, caller, found }) {
    const order = { domainId: found.id, by: asActor(caller), source: 'api', exempt: true } as const;
    const restored = await restoreDomain(api.db, order);
    if (restored.kind === 'restored') return await printAdminDomain(api.db, restored.domain, api);
    if (restored.kind === 'absent') return notFound('domain');
    return problem(restored.kind === 'taken' ? 'domain_taken' : 'wrong_state', restored.message);
  },
});

/** Returns the subject of an audit row. */
export function about({ id, name }: Domain) {
  return { domainId: id, target: { name: printWithoutDot(name) } };
}

async function answerMoved(
  { api }: Pick<OneCall, 'api'>,
  moved: UpdatedDomain | { readonly kind: 'refused' },
) {
  if (moved.kind === 'updated') return await printAdminDomain(api.db, moved.domain, api);
  if (moved.kind === 'absent') return notFound('domain');
  const { code, message } = moved as Extract<UpdatedDomain, { kind: 'refused' }>;
  return problem(code === 'taken' ? 'domain_taken' : 'wrong_state', message);
}

function nameOf(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

/** The same as for `ns-check`. */
const WAIT_MS = 25_000;
const RETRY_SECONDS = 10;

const checkDomain = route(admin, {
  method: 'POST',
  path: '/admin/domains/{id}/check',
  operationId: 'adminCheckDomain',
  tag: 'Domains',
  summary: 'Checks the delegation of a domain now.',
  description: 'Returns the domain and the check within 25 seconds.',
  audit: {
    none: 'it requests a check, which the log of checks records; a status change that follows is a change',
  },
  waits: true,
  ...oneDomain,
  response: AdminDomain.extend({ check: Check }).meta({ id: 'AdminCheckedDomain' }),
  problems: ['wrong_state'],
  async run(call) {
    const { api, found, gone } = call;
    const message = whyUnchecked(found);
    if (message !== undefined) return problem('wrong_state', message);
    const about = { ...call, domain: found };
    const request = jobRequestOf('admin-check', about);
    const job = { domainId: found.id, kind: 'operator', request } as const;
    const isEnqueued = await enqueueNow(api.checks, job, 'check', about);
    const timeoutMs = api.checks.waitMs ?? WAIT_MS;
    const run = isEnqueued ? await waitForCheck(api.db, request, { timeoutMs, signal: gone }) : undefined;
    if (run === undefined) return unavailable('the check could not be made now; try again', RETRY_SECONDS);
    const now = await loadDomainById(api.db, found.id);
    if (now === undefined) return notFound('domain');
    return { ...(await printAdminDomain(api.db, now, api)), check: printCheck(run) };
  },
});

export const ADMIN_DOMAIN_ROUTES: readonly Route[] = [
  listDomains,
  getDomain,
  ...MOVE_ROUTES,
  ...SUSPENSION_ROUTES,
  approve,
  restore,
  checkDomain,
];
