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

/** `Trx`: the transaction in which the subscription is renewed; money and term are one. */
export interface Wallet<Trx> {
  /** Called once before any charge of a transaction, with all accounts that may be charged in it. */
  lock(trx: Trx, accountIds: readonly number[]): Promise<void>;
  /** True: it is paid. */
  charge(trx: Trx, charge: Charge): Promise<boolean>;
}
