// Members of a domain: lists them, changes their roles and removes them. A member may also leave.

import { z } from 'zod';
import { memberNote } from '../../../store/audit/audit-notes.ts';
import type { SharingRefusal } from '../../../store/sharing/lock-sharing.ts';
import {
  countMembers,
  loadMember,
  listMembers as loadMembers,
  removeMember,
  type Member as StoredMember,
  setMember,
} from '../../../store/sharing/members.ts';
import { forbidden, notFound, Problem, problem } from '../../answers/problem.ts';
import { asStoreCaller } from '../../callers/caller.ts';
import { answerList, PAGE_QUERY, pagesById } from '../../calls/answer-list.ts';
import type { CallOf } from '../../calls/call.ts';
import { domain, type Route, route } from '../../calls/route.ts';
import { idText, Message } from '../../schemas/fields.ts';
import { Member, MemberUpdate } from '../../schemas/sharing.ts';

/** `what` is the noun for the 404. */
export function sharingProblem(
  { code, message, retryAfterSeconds = 1 }: SharingRefusal,
  what: string,
): Problem {
  switch (code) {
    case 'no_domain':
      return notFound('domain');
    case 'absent':
      return notFound(what);
    case 'forbidden':
      return forbidden(message);
    case 'owner':
    case 'provider':
    case 'ended':
      return problem('wrong_state', message);
    case 'full':
      return new Problem(409, message);
    case 'limited':
      return new Problem(429, message, { headers: { 'Retry-After': String(retryAfterSeconds) } });
    default:
      return code satisfies never;
  }
}

const tag = 'Sharing';
const params = z.object({ userId: idText });

type MemberCall = CallOf<'domain', z.output<typeof params>>;
const find = ({ api, domain, params: { userId } }: MemberCall) => loadMember(api.db, domain.id, userId);

const listMembers = route(domain('domain.view', { whileDisabled: true, wholeKeys: true }), {
  method: 'GET',
  path: '/domains/{domain}/members',
  operationId: 'listMembers',
  tag,
  summary: 'Lists the members of a domain.',
  description:
    'The owner, the reseller that manages the owner (`provider`), and the members, sorted by `user_id`. At most 200 members.',
  query: z.object(PAGE_QUERY),
  response: z.array(Member),
  answerHeaders: ['Link', 'X-Total-Count'],
  run(call) {
    const { db } = call.api;
    const { id } = call.domain;
    return answerList(call, {
      load: pagesById<StoredMember>(
        false,
        (page) => loadMembers(db, id, page),
        ({ accountId }) => accountId,
      ),
      count: () => countMembers(db, id),
      print: async (members) => members.map(printMember),
    });
  },
});

const updateMember = route(domain('members.manage', { whileDisabled: true }), {
  method: 'PATCH',
  path: '/domains/{domain}/members/{userId}',
  operationId: 'updateMember',
  audit: 'member.update',
  tag,
  summary: 'Changes the role of a member.',
  description:
    "Nobody can grant a role above their own. The owner and the reseller that manages the owner cannot be changed (400). If the member is no longer an admin, the member's open invites end.",
  params,
  find,
  finds: 'member',
  body: MemberUpdate,
  response: Member,
  problems: ['wrong_state', 'managed_by_reseller'],
  async run({ api, caller, domain, found, body, audit }) {
    const changed = await setMember(api.db, {
      domainId: domain.id,
      accountId: found.accountId,
      sharer: asStoreCaller(caller),
      role: body.role,
    });
    if (changed.kind === 'refused') return sharingProblem(changed, 'member');
    audit(memberNote(changed.before, changed.member));
    return printMember(changed.member);
  },
});

const deleteMember = route(domain('domain.view', { whileDisabled: true }), {
  method: 'DELETE',
  path: '/domains/{domain}/members/{userId}',
  operationId: 'deleteMember',
  audit: 'member.remove',
  tag,
  summary: 'Removes a member, or leaves a domain.',
  description:
    'Requires `members.manage`, except for oneself: every member may leave, but not with a restricted API key. From the next request on, the domain is a 404 for the former member, whose open invites end.',
  params,
  find,
  finds: 'member',
  response: Message,
  problems: ['wrong_state', 'managed_by_reseller'],
  async run({ api, caller, domain, found, audit }) {
    const { accountId } = found;
    const isLeaving = accountId === caller.account.id;
    if (isLeaving && caller.key.domains !== null)
      return forbidden('this API key is restricted to certain domains');
    const sharer = asStoreCaller(caller);
    const removed = await removeMember(api.db, { domainId: domain.id, accountId, sharer });
    if (removed.kind === 'refused') return sharingProblem(removed, 'member');
    audit(memberNote(removed.before, undefined));
    return { message: isLeaving ? 'you left the domain' : 'member removed' };
  },
});

function printMember({
  accountId,
  email,
  name,
  role,
  isProvider,
  createdAt,
}: StoredMember): z.input<typeof Member> {
  return {
    user_id: accountId,
    email,
    ...(name !== null && { name }),
    role,
    ...(isProvider && { provider: true as const }),
    created_at: createdAt.toISOString(),
  };
}

export const MEMBER_ROUTES: readonly Route[] = [listMembers, updateMember, deleteMember];
