// The wallet, and what moved in it.

import { z } from 'zod';
import { Id } from '../ids.ts';
import { Timestamp } from '../timestamp.ts';

export const Wallet = z
  .object({
    balance_rials: z.int().describe('Below zero only in the wallet of a reseller.'),
    overdraft_rials: z.int().min(0).describe('How far below zero purchases may bring it.'),
  })
  .meta({ id: 'Wallet' });

export const Transaction = z
  .object({
    id: Id,
    amount_rials: z.int().describe('Below zero: it went out.'),
    balance_rials: z.int().describe('Of the wallet, after it.'),
    ref_type: z.enum([
      'topup',
      'subscription',
      'switch_credit',
      'reseller_transfer',
      'reseller_autofund',
      'adjustment',
    ]),
    ref_id: Id.optional().describe('Of the top-up, or of the subscription.'),
    description: z.string(),
    created_at: Timestamp,
  })
  .meta({ id: 'WalletTransaction' });
