// The commands `domain approve` and `domain reserve-set`, with their options and help.

import type { Command } from 'commander';
import type { Cli } from '../terminal/cli.ts';
import { type OwnerOption, ownerOption } from '../terminal/with-owner.ts';
import { type NamesOptions, onNames, runOnNames } from './on-names.ts';

interface TakeOption {
  readonly take?: boolean;
}

const TAKE = ['--take', 'take the right from the account that holds it'] as const;

export function addApproveCommand(domain: Command, cli: Cli): void {
  const command = onNames(
    domain,
    'approve',
    'accept the current delegation of domains as proof for their owners',
  );
  ownerOption(command)
    .option(...TAKE)
    .action(async (names: string[], { take = false, ...options }: NamesOptions & TakeOption) => {
      const { approveDomain } = await import('./approve-domain.ts');
      await runOnNames(cli, { names, outcome: 'approved', ...options }, (db, name, owner) =>
        cli.audited(db, 'domain.approve', (trx, tell) =>
          approveDomain(trx, name, { take, tell, ...owner }, cli.changedBy()),
        ),
      );
    });
}

export function addReserveSetCommand(domain: Command, cli: Cli): void {
  const command = domain
    .command('reserve-set')
    .description('let a set of our nameservers prove a domain only for its owner; exit 1 if refused')
    .argument('<name>', "the domain's name")
    .argument('<set>', 'the nameservers, separated by commas');
  ownerOption(command)
    .option(...TAKE)
    .action(async (text: string, words: string, { take = false, ...options }: OwnerOption & TakeOption) => {
      const { approveDomain, readSet } = await import('./approve-domain.ts');
      const set = readSet(words);
      await runOnNames(cli, { names: [text], outcome: 'reserved', ...options }, (db, name, owner) =>
        cli.audited(db, 'domain.approve', (trx, tell) =>
          approveDomain(trx, name, { set, take, tell, ...owner }, cli.changedBy()),
        ),
      );
    });
}
