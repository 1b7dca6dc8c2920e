// Rights of the accounts for which a name was active here (docs/rules.md "Proof").

/** How long a former holder can still be proved by a shared set that the parent showed before. */
const EXEMPT_MS = 90 * 86_400_000;
/** How long the former holders of a name are kept. */
export const HOLDERS_KEPT_MS = 730 * 86_400_000;

export interface NameHolder {
  readonly accountId: number;
  /** When the name was last active for the account, in milliseconds since 1970. */
  readonly activeAt: number;
}

/** True if the account held the name within 90 days. */
export function wasHolder(holders: readonly NameHolder[], accountId: number, at: number): boolean {
  return holders.some((holder) => holder.accountId === accountId && at - holder.activeAt < EXEMPT_MS);
}

/** True if another account held the name within two years. */
export function wasHeldByOthers(holders: readonly NameHolder[], accountId: number, at: number): boolean {
  return holders.some((holder) => holder.accountId !== accountId && at - holder.activeAt < HOLDERS_KEPT_MS);
}
