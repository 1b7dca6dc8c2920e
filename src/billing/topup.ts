// Top-ups: what an account may order, and what is done with what a gateway tells of one.

/** Below it a gateway's own fee is more. */
export const LEAST_TOPUP_RIALS = 10_000;
export const MOST_TOPUP_RIALS = 100_000_000_000;
/** How many top-ups of an account may be open at a time. */
export const MOST_OPEN_TOPUPS = 10;
/** Of an account, in 24 hours: one that is cancelled is open no more, and is kept all the same. */
export const MOST_NEW_TOPUPS = 100;
/** Then it is open no more. What is paid later is credited all the same. */
export const TOPUP_OPEN_HOURS = 72;

export const TOPUP_STATES = ['open', 'paid', 'cancelled', 'expired'] as const;
export type TopupState = (typeof TOPUP_STATES)[number];

/** What is stored of a top-up. */
interface TopupFacts {
  readonly amountRials: number;
  readonly expiresAt: Date;
  readonly paidAt: Date | null;
  /** Its owner wants it no more. */
  readonly cancelledAt: Date | null;
}

/** Money decides: one that is paid is paid, even if it was cancelled before. */
export function stateOf({ paidAt, cancelledAt, expiresAt }: TopupFacts, at: Date): TopupState {
  if (paidAt !== null) return 'paid';
  if (cancelledAt !== null) return 'cancelled';
  return expiresAt > at ? 'open' : 'expired';
}

type Judged =
  | { readonly kind: 'credit' }
  /** It was credited before. */
  | { readonly kind: 'already' }
  /** The notice names another amount: nobody knows then what was paid. */
  | { readonly kind: 'differs' };

/** `toldRials`: the amount that the gateway names; undefined: an operator has seen the money. */
export function judgePaid(topup: TopupFacts, toldRials: number | undefined): Judged {
  if (toldRials !== undefined && toldRials !== topup.amountRials) return { kind: 'differs' };
  return { kind: topup.paidAt === null ? 'credit' : 'already' };
}
