// Members of a domain and invites to it, in responses and in bodies.

import { z } from 'zod';
import { GRANTED_ROLES } from '../../store/sharing/judge-sharing.ts';
import { ROLES } from '../callers/caller.ts';
import { Id, Timestamp } from './fields.ts';
import { Email } from './people.ts';

const GrantedRole = z.enum(GRANTED_ROLES);

export const Member = z
  .object({
    user_id: Id,
    email: z.string(),
    name: z.string().optional(),
    role: z.enum(ROLES),
    provider: z
      .literal(true)
      .optional()
      .describe('The member is the reseller that manages the owner. It cannot be changed here.'),
    created_at: Timestamp.describe(
      'Time since which the account is a member. For the owner and the reseller: creation time of the domain.',
    ),
  })
  .meta({ id: 'Member' });

export const MemberUpdate = z.strictObject({ role: GrantedRole }).meta({ id: 'MemberUpdate' });

export const Invite = z
  .object({
    id: Id,
    email: z.string(),
    role: GrantedRole,
    status: z.enum(['open', 'accepted', 'revoked', 'expired']),
    expires_at: Timestamp,
    invited_by: Id.optional().describe('The account that invited. Absent for the operator.'),
    created_at: Timestamp,
    url: z
      .string()
      .optional()
      .describe(
        'The link for the invited person. Only in the response that creates the invite. It is a secret.',
      ),
  })
  .meta({ id: 'Invite' });

export const NewInvite = z
  .strictObject({
    email: Email.describe('The person to invite. An account is not needed yet.'),
    role: GrantedRole,
  })
  .meta({ id: 'NewInvite' });

export const InviteSeen = z
  .object({
    domain: z.string(),
    role: GrantedRole,
    invited_email: z.string().describe('Masked: `a•••@e•••.com`.'),
    expires_at: Timestamp,
  })
  .meta({ id: 'InviteSeen' });
