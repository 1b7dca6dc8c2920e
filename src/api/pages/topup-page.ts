// The page of a top-up: what to pay, by which reference, and whether it is paid.

import type { TopupState } from '../../billing/topup.ts';
import { foreign, html, page, rials } from './html.ts';

interface ShownTopup {
  readonly reference: string;
  readonly amountRials: number;
  readonly state: TopupState;
  readonly expiresAt: Date;
  /** How to pay by hand. */
  readonly instructions: string | undefined;
}

export function topupPage(topup: ShownTopup): Iterable<string> {
  const { reference, amountRials, state, expiresAt, instructions } = topup;
  const told = {
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
<tr><th>State</th><td>${told}</td></tr>
</table>
${how}`,
  );
}
