// An invoice as its buyer sees it.

import type { z } from 'zod';
import { invoiceNumber } from '../../../billing/invoice.ts';
import type { Invoice as StoredInvoice } from '../../../store/money/load-invoices.ts';
import type { Invoice } from '../../schemas/money/invoice.ts';

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
