// Finds the account of a command by email or id. If it does not exist, the answer is "no".

import { type Account, findAccount } from '../../store/accounts/accounts.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Output } from './output.ts';

export async function withAccount(
  db: Database,
  emailOrId: string,
  output: Output,
  work: (account: Account) => Promise<number>,
): Promise<number> {
  const account = await findAccount(db, emailOrId);
  if (account !== undefined) return await work(account);
  if (output.json) await output.print(JSON.stringify({ account: emailOrId, outcome: 'absent' }));
  else await output.complain(`${emailOrId}: no such account`);
  return 1;
}
