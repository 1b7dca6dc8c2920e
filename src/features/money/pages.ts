// HTML pages: an invoice for printing, and a top-up with its reference and state. Names, emails and descriptions come
// from other people, and are escaped.

import { foreign, html, page, rials } from '../../api/answers/html.ts';
import type { TopupState } from '../../billing/topup.ts';

interface ShownInvoice {
  /** Name of the seller. Empty if none is configured. */
  readonly seller: string;
  readonly number: string;
  readonly issuedAt: Date;
  readonly buyerName: string | null;
  readonly buyerEmail: string;
  readonly lines: readonly { readonly description: string; readonly amount_rials: number }[];
  readonly totalRials: number;
  readonly periodStart: Date | null;
  readonly periodEnd: Date | null;
}

const day = (at: Date) => at.toISOString().slice(0, 10);

export function invoicePage(invoice: ShownInvoice): Iterable<string> {
  const { number, seller, issuedAt, buyerName, buyerEmail, lines, totalRials } = invoice;
  const { periodStart, periodEnd } = invoice;
  const title = totalRials < 0 ? 'Credit note' : 'Invoice';
  const rows = lines.map(
    ({ description, amount_rials }) =>
      html`<tr><td>${foreign(description)}</td><td class="amount">${rials(amount_rials)}</td></tr>
`,
  );
  const period =
    periodStart === null || periodEnd === null
      ? html``
      : html`<tr><th>Period</th><td>${day(periodStart)} to ${day(periodEnd)} (UTC)</td></tr>`;
  return page(
    `${title} ${number}`,
    html`<h1>${title} ${number}</h1>
<table>
${seller === '' ? html`` : html`<tr><th>Seller</th><td>${foreign(seller)}</td></tr>`}
<tr><th>Buyer</th><td>${buyerName === null ? html`` : html`${foreign(buyerName)}<br>`}${foreign(buyerEmail)}</td></tr>
<tr><th>Issued</th><td>${day(issuedAt)} (UTC)</td></tr>
${period}
</table>
<table>
${rows}<tr><th>Total</th><th class="amount">${rials(totalRials)}</th></tr>
</table>`,
  );
}

interface ShownTopup {
  readonly reference: string;
  readonly amountRials: number;
  readonly state: TopupState;
  readonly expiresAt: Date;
  /** How to pay manually. */
  readonly instructions: string | undefined;
}

export function topupPage(topup: ShownTopup): Iterable<string> {
  const { reference, amountRials, state, expiresAt, instructions } = topup;
  const stateText = {
    open: `Not paid yet. Pay before ${expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC.`,
    paid: 'Paid: the amount is in your wallet.',
    cancelled: 'Cancelled: order another top-up.',
    expired: 'Not paid in time: order another top-up.',
  }[state];
  const how = instructions === undefined || state !== 'open' ? html`` : html`<p>${foreign(instructions)}</p>`;
  return page(
    `Top-up ${reference}`,
    html`<h1>Top-up</h1>
<table>
<tr><th>Reference</th><td><strong>${reference}</strong></td></tr>
<tr><th>Amount</th><td>${rials(amountRials)}</td></tr>
<tr><th>State</th><td>${stateText}</td></tr>
</table>
${how}`,
  );
}
