// Rules of the ledger: whole rials move between wallets, or between a wallet and an external party. Every movement adds up
// to zero, so the sum of all movements is always zero.

/** Reason for a movement. `adjustment`: made manually by the operator. */
export type RefType =
  | 'topup'
  | 'subscription'
  | 'switch_credit'
  | 'reseller_transfer'
  | 'reseller_autofund'
  | 'adjustment';

/** The external party of a movement: payments, sales, or the operator. */
export type Outside = 'gateway' | 'sales' | 'operator';

/** Maximum of one movement and of a wallet's balance. JSON numbers of this size are exact. */
export const MAX_RIALS = 1_000_000_000_000_000;

/** Returns the lowest allowed balance. Only resellers may pay later for purchases. */
export function floorOf(account: { readonly isReseller: boolean }, maxNegativeRials: number): number {
  return account.isReseller ? -maxNegativeRials : 0;
}

const DAY_MS = 86_400_000;

/** Wallets that have been negative since this time or longer suspend the domains that they pay for. */
export function overdueSince(at: Date, graceDays: number): Date {
  return new Date(at.getTime() - graceDays * DAY_MS);
}

/** A wallet's balance and debt. */
export interface WalletState {
  readonly balanceRials: number;
  readonly negativeSince: Date | null;
  /** Refunds since the debt began that have not been spent since. */
  readonly givenBackRials: number;
  /** Age of the debt when a refund alone settled it. Null if there is none. */
  readonly debtMs: number | null;
}

interface Booking {
  /** Negative for outgoing money. */
  readonly amountRials: number;
  /** True for a refund of unused time. */
  readonly isGivenBack: boolean;
  readonly at: Date;
}

/**
 * Returns a wallet after a movement. Incoming money ends a debt. A refund settles it as well, but if the refund is spent
 * again, the debt resumes at its previous age. Otherwise switching back and forth would restart it.
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
  /** Lowest allowed balance. */
  readonly floorRials: number;
}

/**
 * Returns what an account's reseller adds to its purchase: the amount missing in the account's own wallet. Returns
 * undefined if the purchase cannot be paid.
 */
export function shortfallOf(priceRials: number, own: Purse, reseller?: Purse): number | undefined {
  if (own.balanceRials - own.floorRials >= priceRials) return 0;
  if (reseller === undefined) return undefined;
  const missing = priceRials - own.balanceRials;
  return reseller.balanceRials - reseller.floorRials >= missing ? missing : undefined;
}
