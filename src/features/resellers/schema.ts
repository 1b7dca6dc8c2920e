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
  .strictObject({ name: PersonName.nullable().describe('Null: none.') })
  .meta({ id: 'ClientChange' });

export const Client = z
  .object({
    id: Id,
    email: z.string(),
    email_confirmed: z.boolean().describe('Its owner has opened a link that was mailed there.'),
    name: z.string().optional(),
    active: z.boolean().describe('False: every call of the account is refused; its domains are served.'),
    password_set: z.boolean(),
    domains: z.int().min(0).describe('How many domains it has.'),
    created_at: Timestamp,
  })
  .meta({ id: 'Client' });

export const ClientWallet = z.object({ balance_rials: z.int() }).meta({ id: 'ClientWallet' });

export const ResellerWallet = z
  .object({
    balance_rials: z.int(),
    overdraft_rials: z.int().min(0).describe('How far below zero purchases may bring it.'),
  })
  .meta({ id: 'ResellerWallet' });

export const TransferOrder = z
  .strictObject({
    amount_rials: z.int().min(1).max(MAX_RIALS),
    description: nameText(200).default('Transfer').describe('Read on both rows of the ledger.'),
  })
  .meta({ id: 'TransferOrder' });

export const TransferResult = z
  .object({
    amount_rials: z.int(),
    reseller_balance_rials: z.int().describe('After it.'),
    client_balance_rials: z.int().describe('After it.'),
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
    id: Id.describe('That of the domain: it stays whatever plan the domain has.'),
    client_id: Id,
    domain_id: Id,
    domain: z.string(),
    domain_status: z.enum(DOMAIN_STATUSES),
    domain_served: z
      .enum(SERVED)
      .describe(
        'The `served` of the domain. If the domain is not answered whole, its `findings` explain what to do.',
      ),
    subscription: Subscription.optional().describe('Absent: there is none.'),
  })
  .meta({ id: 'Service' });

export const NewResellerToken = z
  .strictObject({ name: nameText(100).describe('What it is for.'), expires_at: Timestamp.optional() })
  .meta({ id: 'NewResellerToken' });

export const ResellerToken = z
  .object({
    id: Id,
    name: z.string(),
    key_id: z.string().describe('The part of the token that is no secret: `rsl_<key_id>_…`.'),
    status: z.enum(['active', 'revoked']),
    expires_at: Timestamp.nullable().describe('From then on it counts no more, whatever `status` says.'),
    last_used_at: Timestamp.nullable().describe('To the minute.'),
    created_at: Timestamp,
    token: z.string().optional().describe('The token itself, in the answer that makes it only.'),
  })
  .meta({ id: 'ResellerToken' });
