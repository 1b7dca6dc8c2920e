// The way to the money of an account. No wallet is built yet: nobody can pay, so a term that costs something ends.

interface Charge {
  readonly accountId: number;
  readonly subscriptionId: number;
  readonly priceRials: number;
}

/** `Trx`: the transaction in which the subscription is renewed; money and term are one. */
export interface Wallet<Trx> {
  /** True: it is paid. */
  charge(trx: Trx, charge: Charge): Promise<boolean>;
}

export const NO_WALLET: Wallet<unknown> = { charge: async () => false };
