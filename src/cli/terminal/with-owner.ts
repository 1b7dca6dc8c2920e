// `--account` of the commands on domains: several accounts may have a domain of one name.

import type { Command } from 'commander';
import type { Database } from '../../store/postgres/database.ts';
import { withAccount } from './find-account.ts';
import type { Owner } from './one-domain.ts';
import type { Output } from './output.ts';

export interface OwnerOption {
  readonly account?: string;
}

export function ownerOption(command: Command): Command {
  return command.option(
    '--account <account>',
    'those of this owner (email or id): needed where several accounts have a domain',
  );
}

/** With an account that does not exist the answer is "no", and no work is done. */
export async function withOwner(
  db: Database,
  { account }: OwnerOption,
  output: Output,
  work: (owner: Owner) => Promise<number>,
): Promise<number> {
  if (account === undefined) return await work({});
  return await withAccount(db, account, output, ({ id }) => work({ accountId: id }));
}
