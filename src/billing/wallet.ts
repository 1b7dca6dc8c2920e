// Interface to accounts' money for the job that renews subscriptions.

interface Charge {
  readonly accountId: number;
  readonly subscriptionId: number;
  readonly domainId: number;
  readonly priceRials: number;
  /** Description of the purchase for the invoice. */
  readonly description: string;
  readonly period: { readonly start: Date; readonly end: Date };
  readonly at: Date;
}

/** Returns true if the charge was paid. */
export type Charger = (charge: Charge) => Promise<boolean>;

/** `Trx`: the transaction in which the subscription is renewed, so that payment and term are atomic. */
export interface Wallet<Trx> {
  /** Called once before any charge in a transaction, with all accounts that may be charged in it. */
  lock(trx: Trx, accountIds: readonly number[]): Promise<Charger>;
}
