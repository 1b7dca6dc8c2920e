// The option `--account` of commands on domains, because several accounts may have a domain with the same name.

import type { Command } from 'commander';
import type { Database } from '../../store/postgres/database.ts';
import type { Owner } from './one-domain.ts';
import type { Output } from './output.ts';

export interface OwnerOption {
  readonly account?: string;
}

export function ownerOption(command: Command): Command {
  return command.option(
    '--account <account>',
    'only domains of this owner (email or id); required if several accounts have a domain with this name',
  );
}

/** If the account does not exist, reports it without running the work, and returns 1. */
export async function withOwner(
  db: Database,
  { account }: OwnerOption,
  output: Output,
  work: (owner: Owner) => Promise<number>,
): Promise<number> {
  if (account === undefined) return await work({});
  const { withAccount } = await import('./find-account.ts');
  return await withAccount(db, account, output, ({ id }) => work({ accountId: id }));
}
