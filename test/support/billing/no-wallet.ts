import type { Wallet } from '../../../src/billing/wallet.ts';

/** Nobody can pay, so a term that costs something ends. */
export const NO_WALLET: Wallet<unknown> = { lock: async () => async () => false };
