// Invites to a domain, for accounts that may manage its members. A link is shown only once, when it is created.

import { z } from 'zod';
import { linkTo } from '../../../process/public-link.ts';
import { readEmail } from '../../../store/accounts/email-address.ts';
import { inviteNote } from '../../../store/audit/told-sharing.ts';
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
import type { Problem } from '../../answers/problem.ts';
import { type ApiCaller, asStoreCaller } from '../../callers/caller.ts';
import type { Api, CallOf } from '../../calls/call.ts';
import { domain, route } from '../../calls/route.ts';
import { answerList, logQuery, pagesById } from '../../lists/paging.ts';
import type { People } from '../../people/people.ts';
import { idText } from '../../schemas/ids.ts';
import { Message } from '../../schemas/message.ts';
import { Invite, NewInvite } from '../../schemas/sharing.ts';
import { sharingProblem } from './refusals.ts';

const tag = 'Sharing';
const params = z.object({ id: idText });

type InviteCall = CallOf<'domain', z.output<typeof params>>;
const find = ({ api, domain, params: { id } }: InviteCall) => loadInvite(api.db, domain.id, id);

const withoutSecrets = ({ url: _, ...rest }: z.output<typeof Invite>) => rest;

export const listInvites = route(domain('members.manage', { whileDisabled: true, wholeKeys: true }), {
  method: 'GET',
  path: '/domains/{domain}/invites',
  operationId: 'listInvites',
  tag,
  summary: 'The invites to a domain, newest first.',
  description: 'Also those that are over, for 90 days. Links are not shown.',
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

export const createInvite = route(domain('members.manage', { whileDisabled: true }), {
  method: 'POST',
  path: '/domains/{domain}/invites',
  operationId: 'createInvite',
  audit: 'invite.create',
  tag,
  summary: 'Invites a person to a domain.',
  description:
    'By email, for seven days, once. `url` is the link, shown in this answer only; where the service sends mail, another one is mailed to the address, at most three an hour. An open invite of the same address is replaced. It can be accepted by an account with this email only, and does not lower a role that the account has. It ends if whoever invites loses members.manage. At most 100 are open, and 50 a day are sent (429).',
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

export const resendInvite = route(domain('members.manage', { whileDisabled: true }), {
  method: 'POST',
  path: '/domains/{domain}/invites/{id}/resend',
  operationId: 'resendInvite',
  audit: 'invite.resend',
  tag,
  summary: 'Sends an invite again, with another link.',
  description: 'The links of before end, and it is open for seven days from now. It counts as a new one.',
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

export const revokeInvite = route(domain('members.manage', { whileDisabled: true }), {
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
    const came = await saveRevoked(api.db, { domainId: domain.id, inviteId: found.id, sharer });
    if (came.kind === 'refused') return sharingProblem(came, 'invite');
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
