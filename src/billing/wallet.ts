// The way to the money of an account, for the job that renews subscriptions.

interface Charge {
  readonly accountId: number;
  readonly subscriptionId: number;
  readonly domainId: number;
  readonly priceRials: number;
  /** What is paid for, as the invoice says it. */
  readonly description: string;
  readonly period: { readonly start: Date; readonly end: Date };
  readonly at: Date;
}

/** True: it is paid. */
export type Charger = (charge: Charge) => Promise<boolean>;

/** `Trx`: the transaction in which the subscription is renewed; money and term are one. */
export interface Wallet<Trx> {
  /** Called once before any charge of a transaction, with all accounts that may be charged in it. */
  lock(trx: Trx, accountIds: readonly number[]): Promise<Charger>;
}
