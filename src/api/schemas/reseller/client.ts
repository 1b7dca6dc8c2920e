// Clients of a reseller, and the money between them.

import { z } from 'zod';
import { MAX_RIALS } from '../../../billing/ledger.ts';
import { Id } from '../ids.ts';
import { nameText } from '../name-text.ts';
import { Email, PersonName } from '../people.ts';
import { Timestamp } from '../timestamp.ts';

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
