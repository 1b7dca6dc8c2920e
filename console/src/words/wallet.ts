// The texts of the wallet, which are loaded with their pages.

import * as english from './en/wallet.ts';
import { persian } from './persian.ts';

export const wallet: typeof english.wallet = persian?.wallet ?? english.wallet;
