// Top-ups: ordered, listed, told by gateways, seen by operators.

import { z } from 'zod';
import { LEAST_TOPUP_RIALS, MOST_TOPUP_RIALS, TOPUP_STATES } from '../../../billing/topup.ts';
import { Id } from '../ids.ts';
import { Timestamp } from '../timestamp.ts';

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
