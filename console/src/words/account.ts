// The texts of the account, which are loaded with their pages.

import * as english from './en/account.ts';
import { persian } from './persian.ts';

export const account: typeof english.account = persian?.account ?? english.account;
