import type { Wallet } from '../../../src/billing/wallet.ts';

/** No charge succeeds, so a paid term ends. */
export const NO_WALLET: Wallet<unknown> = { lock: async () => async () => false };
