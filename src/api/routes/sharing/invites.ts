// Invites to a domain: for accounts that may manage its members, and for the holder of a link, who reads and accepts
// the invite. A link is shown only once, when it is created.

import { z } from 'zod';
import { linkTo } from '../../../process/public-link.ts';
import { readEmail } from '../../../store/accounts/accounts.ts';
import { inviteNote } from '../../../store/audit/audit-notes.ts';
import { loadVisibleById } from '../../../store/domains/load-domains.ts';
import { findInvite, acceptInvite as saveAccepted } from '../../../store/sharing/accept-invite.ts';
import {
  countInvites,
  type Inviter,
  loadInvite,
  listInvites as loadInvites,
  type SentInvite,
  type Invite as StoredInvite,
  createInvite as saveInvite,
  revokeInvite as saveRevoked,
  resendInvite as sendAgain,
} from '../../../store/sharing/invites.ts';
import { maskEmail } from '../../../store/sharing/judge-sharing.ts';
import { printWithoutDot } from '../../../zone/name-text.ts';
import { forbidden, notFound, type Problem, problem } from '../../answers/problem.ts';
import { type ApiCaller, asStoreCaller } from '../../callers/caller.ts';
import { answerList, logQuery, pagesById } from '../../calls/answer-list.ts';
import type { Api, CallOf } from '../../calls/call.ts';
import { account, domain, type Route, route } from '../../calls/route.ts';
import type { People } from '../../people/people.ts';
import { answerDomain } from '../../print/print-domain.ts';
import { Domain } from '../../schemas/domain.ts';
import { idText, Message } from '../../schemas/fields.ts';
import { Invite, InviteSeen, NewInvite } from '../../schemas/sharing.ts';
import { sharingProblem } from './members.ts';

const tag = 'Sharing';
const linkParams = z.object({ token: z.string() });

const getInvite = route(account(), {
  method: 'GET',
  path: '/invites/{token}',
  operationId: 'getInvite',
  tag,
  summary: 'Returns an invite.',
  description:
    '`token` is the part of the link after `=`. Responds 404 if the invite was used, was revoked or has expired.',
  params: linkParams,
  response: InviteSeen,
  problems: ['managed_by_reseller'],
  async run({ api, params: { token } }) {
    const invite = await findInvite(api.db, token);
    if (invite === undefined) return notFound('invite');
    return {
      domain: printWithoutDot(invite.domain),
      role: invite.role,
      invited_email: maskEmail(invite.email),
      expires_at: invite.expiresAt.toISOString(),
    };
  },
});

const acceptInvite = route(account(), {
  method: 'POST',
  path: '/invites/{token}/accept',
  operationId: 'acceptInvite',
  audit: 'invite.accept',
  tag,
  summary: 'Accepts an invite, which can be used once.',
  description:
    'Only for the account whose email address is invited. Other accounts get 403 `invite_email_mismatch`. Afterwards, the account has the role of the invite, or keeps its previous role if that is higher.',
  params: linkParams,
  response: Domain,
  problems: ['invite_email_mismatch', 'managed_by_reseller', 'domain_banned'],
  conflicts: true,
  async run({ api, caller, params: { token }, audit }) {
    const result = await saveAccepted(api.db, token, caller.account);
    switch (result.kind) {
      case 'refused':
        return sharingProblem(result, 'invite');
      case 'mismatch':
        return problem('invite_email_mismatch', 'this invite is for another email address', {
          invited_email: maskEmail(result.email),
        });
      case 'unconfirmed':
        return forbidden('confirm your email address first');
      case 'banned':
        return problem('domain_banned', 'the domain is banned');
      case 'accepted': {
        const domain = await loadVisibleById(api.db, asStoreCaller(caller), result.domainId);
        if (domain === undefined) return notFound('domain');
        const { id: domainId, myRole } = domain;
        const roles = { before: result.before && { role: result.before }, after: { role: myRole } };
        audit({ ...inviteNote(result.invite), domainId, ...roles });
        return await answerDomain(api, domain);
      }
      default:
        return result satisfies never;
    }
  },
});

const params = z.object({ id: idText });

type InviteCall = CallOf<'domain', z.output<typeof params>>;
const find = ({ api, domain, params: { id } }: InviteCall) => loadInvite(api.db, domain.id, id);

const withoutSecrets = ({ url: _, ...rest }: z.output<typeof Invite>) => rest;

const listInvites = route(domain('members.manage', { whileDisabled: true, wholeKeys: true }), {
  method: 'GET',
  path: '/domains/{domain}/invites',
  operationId: 'listInvites',
  tag,
  summary: 'Lists the invites to a domain, newest first.',
  description: 'Includes invites that ended within the last 90 days. Links are not shown.',
  query: z.object(logQuery('newest')),
  response: z.array(Invite),
  answerHeaders: ['Link', 'X-Total-Count'],
  problems: ['managed_by_reseller'],
  run(call) {
    const { db } = call.api;
    const { id } = call.domain;
    const { after, sort } = call.query;
    return answerList(call, {
      load: pagesById<StoredInvite>(
        sort?.descends ?? true,
        (page) => loadInvites(db, id, page, after),
        (invite) => invite.id,
      ),
      count: () => countInvites(db, id, after),
      print: async (invites) => invites.map(printInvite),
    });
  },
});

const createInvite = route(domain('members.manage', { whileDisabled: true }), {
  method: 'POST',
  path: '/domains/{domain}/invites',
  operationId: 'createInvite',
  audit: 'invite.create',
  tag,
  summary: 'Invites a person to a domain.',
  description:
    'The invite is valid for seven days and can be used once. `url` is the link, shown only in this response. If the service sends mail, another link is mailed to the address, at most three per hour. An open invite of the same address is replaced. Only an account with this email address can accept the invite, and a higher role that the account already has is kept. The invite ends if the inviting account loses `members.manage`. At most 100 invites may be open, and 50 may be sent per day (429).',
  body: NewInvite,
  response: Invite,
  withoutSecrets,
  problems: ['managed_by_reseller'],
  conflicts: true,
  async run({ api, caller, domain, body, audit }) {
    const sent = await saveInvite(api.db, {
      domainId: domain.id,
      email: readEmail(body.email) as string,
      role: body.role,
      inviter: inviterOf(api, caller),
    });
    if (sent.kind === 'sent') audit(inviteNote(sent.invite));
    return answerSent(api, sent);
  },
});

const resendInvite = route(domain('members.manage', { whileDisabled: true }), {
  method: 'POST',
  path: '/domains/{domain}/invites/{id}/resend',
  operationId: 'resendInvite',
  audit: 'invite.resend',
  tag,
  summary: 'Sends an invite again, with a new link.',
  description:
    'Earlier links become invalid. The invite is valid for another seven days, and counts as a new one.',
  params,
  find,
  finds: 'invite',
  response: Invite,
  withoutSecrets,
  problems: ['wrong_state', 'managed_by_reseller'],
  async run({ api, caller, domain, found, audit }) {
    const inviter = inviterOf(api, caller);
    const sent = await sendAgain(api.db, { domainId: domain.id, inviteId: found.id, inviter });
    if (sent.kind === 'sent') audit(inviteNote(sent.invite));
    return answerSent(api, sent);
  },
});

const revokeInvite = route(domain('members.manage', { whileDisabled: true }), {
  method: 'DELETE',
  path: '/domains/{domain}/invites/{id}',
  operationId: 'revokeInvite',
  audit: 'invite.revoke',
  tag,
  summary: 'Revokes an open invite.',
  params,
  find,
  finds: 'invite',
  response: Message,
  problems: ['wrong_state', 'managed_by_reseller'],
  async run({ api, caller, domain, found, audit }) {
    const sharer = asStoreCaller(caller);
    const result = await saveRevoked(api.db, { domainId: domain.id, inviteId: found.id, sharer });
    if (result.kind === 'refused') return sharingProblem(result, 'invite');
    audit(inviteNote(found));
    return { message: 'invite revoked' };
  },
});

function inviterOf(api: Api, caller: ApiCaller): Inviter {
  const mails = api.people?.sendsMail === true;
  return { sharer: asStoreCaller(caller), email: caller.account.email, mails };
}

function answerSent(api: Api, sent: SentInvite): z.input<typeof Invite> | Problem {
  if (sent.kind === 'refused') return sharingProblem(sent, 'invite');
  const { publicUrl } = api.people as People;
  return { ...printInvite(sent.invite), url: linkTo(publicUrl, 'invite', sent.token) };
}

function printInvite({
  id,
  email,
  role,
  status,
  expiresAt,
  invitedBy,
  createdAt,
}: StoredInvite): z.input<typeof Invite> {
  return {
    id,
    email,
    role,
    status,
    expires_at: expiresAt.toISOString(),
    ...(invitedBy !== null && { invited_by: invitedBy }),
    created_at: createdAt.toISOString(),
  };
}

export const INVITE_ROUTES: readonly Route[] = [
  listInvites,
  createInvite,
  resendInvite,
  revokeInvite,
  getInvite,
  acceptInvite,
];
