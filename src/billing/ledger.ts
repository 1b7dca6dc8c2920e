// The rules of money: whole rials, moved between wallets, or between a wallet and what is outside of them. Every movement
// adds up to zero, so the sum over all that was ever written is zero.

/** Why money moved. `adjustment`: by the operator's hand. */
export type RefType =
  | 'topup'
  | 'subscription'
  | 'switch_credit'
  | 'reseller_transfer'
  | 'reseller_autofund'
  | 'adjustment';

/** The other side of a movement that is no wallet: who pays in, what is sold, and the operator's own hand. */
export type Outside = 'gateway' | 'sales' | 'operator';

/** The most that one movement may move, and a wallet may hold: a number in JSON stays exact. */
export const MAX_RIALS = 1_000_000_000_000_000;

/** How far below zero a wallet may go: only what resellers buy may be paid later. */
export function floorOf(account: { readonly isReseller: boolean }, maxNegativeRials: number): number {
  return account.isReseller ? -maxNegativeRials : 0;
}

const DAY_MS = 86_400_000;

/** A wallet that is below zero since this time, or longer, suspends the domains that it pays for. */
export function overdueSince(at: Date, graceDays: number): Date {
  return new Date(at.getTime() - graceDays * DAY_MS);
}

interface Purse {
  readonly balanceRials: number;
  /** How far down it may go. */
  readonly floorRials: number;
}

/**
 * What the reseller of an account adds to its purchase: what the account's own wallet lacks. Undefined: it cannot be
 * paid.
 */
export function shortfallOf(priceRials: number, own: Purse, reseller?: Purse): number | undefined {
  if (own.balanceRials - own.floorRials >= priceRials) return 0;
  if (reseller === undefined) return undefined;
  const missing = priceRials - own.balanceRials;
  return reseller.balanceRials - reseller.floorRials >= missing ? missing : undefined;
}
