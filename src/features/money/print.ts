// Converts invoices and top-ups to API resources.

import type { z } from 'zod';
import { invoiceNumber } from '../../billing/invoice.ts';
import { stateOf } from '../../billing/topup.ts';
import type { AdminPayment, Invoice, Topup } from './schema.ts';
import type { Invoice as StoredInvoice } from './sql-invoices.ts';
import type { Payment } from './sql-payments.ts';

export function printInvoice(invoice: StoredInvoice): z.input<typeof Invoice> {
  const { id, buyerName, buyerEmail, domainId, domain, subscriptionId, lines, totalRials } = invoice;
  const { periodStart, periodEnd, issuedAt, seller } = invoice;
  return {
    id,
    number: invoiceNumber(invoice),
    issued_at: issuedAt.toISOString(),
    ...(seller !== null && seller !== '' && { seller }),
    ...(buyerName !== null && { buyer_name: buyerName }),
    buyer_email: buyerEmail,
    ...(domainId !== null && { domain_id: domainId }),
    ...(domain !== null && { domain: domain.replace(/\.$/, '') }),
    ...(subscriptionId !== null && { subscription_id: subscriptionId }),
    lines: lines.map(({ description, amount_rials }) => ({ description, amount_rials })),
    total_rials: totalRials,
    ...(periodStart !== null && { period_start: periodStart.toISOString() }),
    ...(periodEnd !== null && { period_end: periodEnd.toISOString() }),
  };
}

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
