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

/** What a wallet knows of its balance and its debt. */
export interface WalletState {
  readonly balanceRials: number;
  readonly negativeSince: Date | null;
  /** What was given back since the debt began, and was not spent since. */
  readonly givenBackRials: number;
  /** How long a debt had lasted when only what was given back settled it; null: there is none. */
  readonly debtMs: number | null;
}

interface Booking {
  /** Below zero: it goes out. */
  readonly amountRials: number;
  /** For unused time of what was bought. */
  readonly isGivenBack: boolean;
  readonly at: Date;
}

/**
 * A wallet after a movement. A debt ends with money that comes in. What is given back settles it too, but whoever then spends
 * that again has the same debt: its time goes on where it stopped, or a switch there and back would begin it anew.
 */
export function bookOn(wallet: WalletState, { amountRials, isGivenBack, at }: Booking): WalletState {
  const balanceRials = wallet.balanceRials + amountRials;
  const { negativeSince, debtMs } = wallet;
  const hasDebt = negativeSince !== null || debtMs !== null;
  const givenBackRials = hasDebt ? givenBackAfter(wallet.givenBackRials, amountRials, isGivenBack) : 0;
  if (balanceRials - givenBackRials >= 0)
    return { balanceRials, negativeSince: null, givenBackRials: 0, debtMs: null };
  if (balanceRials < 0) {
    const since = negativeSince ?? new Date(at.getTime() - (debtMs ?? 0));
    return { balanceRials, negativeSince: since, givenBackRials, debtMs: null };
  }
  const lasted = negativeSince === null ? 0 : Math.max(0, at.getTime() - negativeSince.getTime());
  return { balanceRials, negativeSince: null, givenBackRials, debtMs: debtMs ?? lasted };
}

function givenBackAfter(before: number, amountRials: number, isGivenBack: boolean): number {
  if (amountRials < 0) return Math.max(0, before + amountRials);
  return isGivenBack ? before + amountRials : before;
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
