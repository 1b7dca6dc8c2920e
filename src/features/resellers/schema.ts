// Schemas of clients, services, transfers and machine tokens.

import { z } from 'zod';
import { Id, nameText, Timestamp } from '../../api/schemas/fields.ts';
import { Email, PersonName } from '../../api/schemas/people.ts';
import { Subscription } from '../../api/schemas/plan.ts';
import { MAX_RIALS } from '../../billing/ledger.ts';
import { DNS_MODES, DOMAIN_STATUSES, SERVED } from '../../zone/domain/domain-status.ts';

export const NewClient = z
  .strictObject({ email: Email, name: PersonName.optional() })
  .meta({ id: 'NewClient' });

export const ClientChange = z
  .strictObject({ name: PersonName.nullable().describe('Null for no name.') })
  .meta({ id: 'ClientChange' });

export const Client = z
  .object({
    id: Id,
    email: z.string(),
    email_confirmed: z.boolean().describe('True if its owner opened a link that was mailed there.'),
    name: z.string().optional(),
    active: z
      .boolean()
      .describe('False if every call of the account is rejected. Its domains are still served.'),
    password_set: z.boolean(),
    domains: z.int().min(0).describe('Number of domains.'),
    created_at: Timestamp,
  })
  .meta({ id: 'Client' });

export const ClientWallet = z.object({ balance_rials: z.int() }).meta({ id: 'ClientWallet' });

export const ResellerWallet = z
  .object({
    balance_rials: z.int(),
    overdraft_rials: z.int().min(0).describe('How far below zero purchases may bring the balance.'),
  })
  .meta({ id: 'ResellerWallet' });

export const TransferOrder = z
  .strictObject({
    amount_rials: z.int().min(1).max(MAX_RIALS),
    description: nameText(200).default('Transfer').describe('Text of both rows of the ledger.'),
  })
  .meta({ id: 'TransferOrder' });

export const TransferResult = z
  .object({
    amount_rials: z.int(),
    reseller_balance_rials: z.int().describe('Balance after the transfer.'),
    client_balance_rials: z.int().describe('Balance after the transfer.'),
  })
  .meta({ id: 'TransferResult' });

export const NewService = z
  .strictObject({
    client_id: Id,
    domain: z.string().min(1).max(1024),
    plan_term_id: Id,
    dns_mode: z.enum(DNS_MODES).default('managed'),
  })
  .meta({ id: 'NewService' });

export const Service = z
  .object({
    id: Id.describe('Id of the domain. It does not depend on the plan.'),
    client_id: Id,
    domain_id: Id,
    domain: z.string(),
    domain_status: z.enum(DOMAIN_STATUSES),
    domain_served: z
      .enum(SERVED)
      .describe(
        'The `served` of the domain. If the domain is not answered completely, its `findings` explain what to do.',
      ),
    subscription: Subscription.optional().describe('Absent if there is none.'),
  })
  .meta({ id: 'Service' });

export const NewResellerToken = z
  .strictObject({ name: nameText(100).describe('Purpose of the token.'), expires_at: Timestamp.optional() })
  .meta({ id: 'NewResellerToken' });

export const ResellerToken = z
  .object({
    id: Id,
    name: z.string(),
    key_id: z.string().describe('Public part of the token: `rsl_<key_id>_…`.'),
    status: z.enum(['active', 'revoked']),
    expires_at: Timestamp.nullable().describe('The token is invalid after this time, whatever `status` is.'),
    last_used_at: Timestamp.nullable().describe('Accurate to the minute.'),
    created_at: Timestamp,
    token: z.string().optional().describe('The token itself. Only the response that creates it contains it.'),
  })
  .meta({ id: 'ResellerToken' });
