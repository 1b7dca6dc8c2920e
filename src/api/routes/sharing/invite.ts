// Shows an invite to the holder of its link, and accepts it.

import { z } from 'zod';
import { inviteNote } from '../../../store/audit/told-sharing.ts';
import { loadVisibleById } from '../../../store/domains/load-domains.ts';
import { acceptInvite as saveAccepted } from '../../../store/sharing/accept-invite.ts';
import { findInvite } from '../../../store/sharing/invite-tokens.ts';
import { maskEmail } from '../../../store/sharing/judge-sharing.ts';
import { printWithoutDot } from '../../../zone/name-text.ts';
import { forbidden, notFound, problem } from '../../answers/problem.ts';
import { asStoreCaller } from '../../callers/caller.ts';
import { account, route } from '../../calls/route.ts';
import { answerDomain } from '../../print/answer-domain.ts';
import { Domain } from '../../schemas/domain.ts';
import { InviteSeen } from '../../schemas/sharing.ts';
import { sharingProblem } from './refusals.ts';

const tag = 'Sharing';
const params = z.object({ token: z.string() });

export const getInvite = route(account(), {
  method: 'GET',
  path: '/invites/{token}',
  operationId: 'getInvite',
  tag,
  summary: 'Shows an invite.',
  description:
    '`token` is what stands behind `=` in the link. A 404 if the invite was used, revoked, or is too old.',
  params,
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

export const acceptInvite = route(account(), {
  method: 'POST',
  path: '/invites/{token}/accept',
  operationId: 'acceptInvite',
  audit: 'invite.accept',
  tag,
  summary: 'Accepts an invite, once.',
  description:
    'By the account whose email is invited; for another this is a 403 `invite_email_mismatch`. The account has the role of the invite from then on, or the one that it had, if that is higher.',
  params,
  response: Domain,
  problems: ['invite_email_mismatch', 'managed_by_reseller', 'domain_banned'],
  conflicts: true,
  async run({ api, caller, params: { token }, audit }) {
    const came = await saveAccepted(api.db, token, caller.account);
    switch (came.kind) {
      case 'refused':
        return sharingProblem(came, 'invite');
      case 'mismatch':
        return problem('invite_email_mismatch', 'this invite is for another email', {
          invited_email: maskEmail(came.email),
        });
      case 'unconfirmed':
        return forbidden('confirm your email first');
      case 'banned':
        return problem('domain_banned', 'the domain is banned');
      case 'accepted': {
        const domain = await loadVisibleById(api.db, asStoreCaller(caller), came.domainId);
        if (domain === undefined) return notFound('domain');
        const { id: domainId, myRole } = domain;
        const roles = { before: came.before && { role: came.before }, after: { role: myRole } };
        audit({ ...inviteNote(came.invite), domainId, ...roles });
        return await answerDomain(api, domain);
      }
      default:
        return came satisfies never;
    }
  },
});
