// A top-up as its owner sees it, and as operators do.

import type { z } from 'zod';
import { stateOf } from '../../../billing/topup.ts';
import type { Payment } from '../../../store/money/payments.ts';
import type { AdminPayment, Topup } from '../../schemas/money/topup.ts';

export function printTopup(payment: Payment): z.input<typeof Topup> {
  const { id, reference, gateway, amountRials, createdAt, expiresAt, paidAt, cancelledAt, now } = payment;
  return {
    id,
    reference,
    gateway,
    amount_rials: amountRials,
    state: stateOf(payment, now),
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    ...(paidAt !== null && { paid_at: paidAt.toISOString() }),
    ...(cancelledAt !== null && { cancelled_at: cancelledAt.toISOString() }),
  };
}

export function printPayment(payment: Payment): z.input<typeof AdminPayment> {
  const { accountId, email, refusedRials, refusedAt } = payment;
  return {
    ...printTopup(payment),
    user_id: accountId,
    email,
    ...(refusedRials !== null && { refused_rials: refusedRials }),
    ...(refusedAt !== null && { refused_at: refusedAt.toISOString() }),
  };
}
