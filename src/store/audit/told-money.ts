// What the audit log tells of money.

import type { Told } from './tell-audit.ts';

export function toldPayment(payment: {
  readonly id: number;
  readonly gateway: string;
  readonly amountRials: number;
}): Told {
  return { payment: payment.id, gateway: payment.gateway, amount_rials: payment.amountRials };
}
