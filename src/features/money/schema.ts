// Schemas of wallets, top-ups, invoices and purchases.

import { z } from 'zod';
import { Id, Timestamp } from '../../api/schemas/fields.ts';
import { LEAST_TOPUP_RIALS, MOST_TOPUP_RIALS, TOPUP_STATES } from '../../billing/topup.ts';

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

const reference = z.string().describe('What people and gateways name it by.');
export const TopupState = z.enum(TOPUP_STATES);

export const NewTopup = z
  .strictObject({
    amount_rials: z.int().min(LEAST_TOPUP_RIALS).max(MOST_TOPUP_RIALS),
    gateway: z.string().min(1).max(40).optional().describe('`manual`, or `online` where there is one.'),
  })
  .meta({ id: 'NewTopup' });

const topup = {
  id: Id,
  reference,
  gateway: z.string(),
  amount_rials: z.int(),
  state: TopupState,
  created_at: Timestamp,
  expires_at: Timestamp.describe('Then it is open no more; what is paid later is credited all the same.'),
  paid_at: Timestamp.optional(),
  cancelled_at: Timestamp.optional(),
};

export const Topup = z.object(topup).meta({ id: 'Topup' });

export const OrderedTopup = z
  .object({ ...topup, payment_url: z.string().describe('Open it in the browser that is signed in.') })
  .meta({ id: 'OrderedTopup' });

export const AdminPayment = z
  .object({
    ...topup,
    user_id: Id,
    email: z.string(),
    refused_rials: z
      .int()
      .optional()
      .describe('A notice of the gateway names this amount instead: nothing was credited by it.'),
    refused_at: Timestamp.optional(),
  })
  .meta({ id: 'AdminPayment' });

/** Gateways tell more; we read no more. */
export const PaymentNotice = z
  .object({ reference: z.string().max(100), amount_rials: z.int() })
  .meta({ id: 'PaymentNotice' });

export const Invoice = z
  .object({
    id: Id,
    number: z.string().describe('`2026-000042`: without gaps in a year (UTC).'),
    issued_at: Timestamp,
    seller: z.string().optional().describe('Who sold it, as it was on that day.'),
    buyer_name: z.string().optional().describe('As it was on that day, like the email.'),
    buyer_email: z.string(),
    domain_id: Id.optional(),
    domain: z.string().optional(),
    subscription_id: Id.optional(),
    lines: z.array(z.object({ description: z.string(), amount_rials: z.int() })),
    total_rials: z.int().describe('Below zero: it was given back.'),
    period_start: Timestamp.optional(),
    period_end: Timestamp.optional(),
  })
  .meta({ id: 'Invoice' });

const termId = Id.describe('One of the `terms` of a plan.');

export const SubscriptionPurchase = z
  .strictObject({
    plan_term_id: termId,
    auto_renew: z.boolean().optional().describe('By default true.'),
  })
  .meta({ id: 'SubscriptionPurchase' });

export const SubscriptionSwitch = z.strictObject({ plan_term_id: termId }).meta({ id: 'SubscriptionSwitch' });

export const AutoRenew = z.strictObject({ auto_renew: z.boolean() }).meta({ id: 'AutoRenew' });
