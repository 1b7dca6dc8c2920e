// Top-ups: what an account may order, and how a gateway's notices are handled.

/** For smaller amounts, a gateway's own fee would exceed the amount. */
export const LEAST_TOPUP_RIALS = 10_000;
export const MOST_TOPUP_RIALS = 100_000_000_000;
/** Maximum number of open top-ups per account. */
export const MOST_OPEN_TOPUPS = 10;
/** Maximum number of new top-ups per account in 24 hours. Cancelled ones are not open, but are still stored. */
export const MOST_NEW_TOPUPS = 100;
/** Then it is no longer open. Later payments are still credited. */
export const TOPUP_OPEN_HOURS = 72;

export const TOPUP_STATES = ['open', 'paid', 'cancelled', 'expired'] as const;
export type TopupState = (typeof TOPUP_STATES)[number];

/** Stored data of a top-up. */
interface TopupFacts {
  readonly amountRials: number;
  readonly expiresAt: Date;
  readonly paidAt: Date | null;
  /** When its owner cancelled it. */
  readonly cancelledAt: Date | null;
}

/** A paid top-up is paid, even if it was cancelled before. */
export function stateOf({ paidAt, cancelledAt, expiresAt }: TopupFacts, at: Date): TopupState {
  if (paidAt !== null) return 'paid';
  if (cancelledAt !== null) return 'cancelled';
  return expiresAt > at ? 'open' : 'expired';
}

type Judged =
  | { readonly kind: 'credit' }
  /** It was already credited. */
  | { readonly kind: 'already' }
  /** The notice has another amount, so it is unclear what was paid. */
  | { readonly kind: 'differs' };

/** `toldRials`: the amount in the gateway's notice. Undefined if an operator confirmed the payment. */
export function judgePaid(topup: TopupFacts, toldRials: number | undefined): Judged {
  if (toldRials !== undefined && toldRials !== topup.amountRials) return { kind: 'differs' };
  return { kind: topup.paidAt === null ? 'credit' : 'already' };
}
