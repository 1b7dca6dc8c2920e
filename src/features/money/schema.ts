// Schemas of wallets, top-ups, invoices and purchases.

import { z } from 'zod';
import { Id, Timestamp } from '../../api/schemas/fields.ts';
import { LEAST_TOPUP_RIALS, MOST_TOPUP_RIALS, TOPUP_STATES } from '../../billing/topup.ts';

export const Wallet = z
  .object({
    balance_rials: z.int().describe('Negative only in the wallet of a reseller.'),
    overdraft_rials: z.int().min(0).describe('How far below zero purchases may bring the balance.'),
  })
  .meta({ id: 'Wallet' });

export const Transaction = z
  .object({
    id: Id,
    amount_rials: z.int().describe('Negative if money left the wallet.'),
    balance_rials: z.int().describe('Balance of the wallet after the transaction.'),
    ref_type: z.enum([
      'topup',
      'subscription',
      'switch_credit',
      'reseller_transfer',
      'reseller_autofund',
      'adjustment',
    ]),
    ref_id: Id.optional().describe('Id of the top-up or of the subscription.'),
    description: z.string(),
    created_at: Timestamp,
  })
  .meta({ id: 'WalletTransaction' });

const reference = z.string().describe('Name of the top-up for people and gateways.');
export const TopupState = z.enum(TOPUP_STATES);

export const NewTopup = z
  .strictObject({
    amount_rials: z.int().min(LEAST_TOPUP_RIALS).max(MOST_TOPUP_RIALS),
    gateway: z
      .string()
      .min(1)
      .max(40)
      .optional()
      .describe('`manual`, or `online` if the operator offers it.'),
  })
  .meta({ id: 'NewTopup' });

const topup = {
  id: Id,
  reference,
  gateway: z.string(),
  amount_rials: z.int(),
  state: TopupState,
  created_at: Timestamp,
  expires_at: Timestamp.describe(
    'After this time the top-up is no longer open, but a later payment is credited.',
  ),
  paid_at: Timestamp.optional(),
  cancelled_at: Timestamp.optional(),
};

export const Topup = z.object(topup).meta({ id: 'Topup' });

export const OrderedTopup = z
  .object({ ...topup, payment_url: z.string().describe('Open it in the signed-in browser.') })
  .meta({ id: 'OrderedTopup' });

export const AdminPayment = z
  .object({
    ...topup,
    user_id: Id,
    email: z.string(),
    refused_rials: z
      .int()
      .optional()
      .describe('A notice of the gateway reported this amount instead, and nothing was credited.'),
    refused_at: Timestamp.optional(),
  })
  .meta({ id: 'AdminPayment' });

/** Gateways send more fields, which are ignored. */
export const PaymentNotice = z
  .object({ reference: z.string().max(100), amount_rials: z.int() })
  .meta({ id: 'PaymentNotice' });

export const Invoice = z
  .object({
    id: Id,
    number: z.string().describe('Such as `2026-000042`. Numbers have no gaps within a year (UTC).'),
    issued_at: Timestamp,
    seller: z.string().optional().describe('Name of the seller on that day.'),
    buyer_name: z.string().optional().describe('Name of the buyer on that day, like the email.'),
    buyer_email: z.string(),
    domain_id: Id.optional(),
    domain: z.string().optional(),
    subscription_id: Id.optional(),
    lines: z.array(z.object({ description: z.string(), amount_rials: z.int() })),
    total_rials: z.int().describe('Negative for a credit note.'),
    period_start: Timestamp.optional(),
    period_end: Timestamp.optional(),
  })
  .meta({ id: 'Invoice' });

const termId = Id.describe('One of the `terms` of a plan.');

export const SubscriptionPurchase = z
  .strictObject({
    plan_term_id: termId,
    auto_renew: z.boolean().optional().describe('Default true.'),
  })
  .meta({ id: 'SubscriptionPurchase' });

export const SubscriptionSwitch = z.strictObject({ plan_term_id: termId }).meta({ id: 'SubscriptionSwitch' });

export const AutoRenew = z.strictObject({ auto_renew: z.boolean() }).meta({ id: 'AutoRenew' });
