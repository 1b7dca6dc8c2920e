// Commands on domains that are named as arguments or in a file: the arguments, and the loop over all domains.

import type { Command } from 'commander';
import type { Name } from '../../dns/name.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Cli } from '../terminal/cli.ts';
import type { WantedDomain } from '../terminal/collect-domain-names.ts';
import type { Owner } from '../terminal/one-domain.ts';
import { type OwnerOption, withOwner } from '../terminal/with-owner.ts';
import type { DomainOutcome } from '../terminal/work-on-domains.ts';

export interface NamesOptions extends OwnerOption {
  readonly file?: string;
}

export function onNames(domain: Command, name: string, description: string): Command {
  return domain
    .command(name)
    .description(`${description}; exit 1 if any is refused`)
    .argument('[name...]', "the domains' names")
    .option('--file <file>', 'more names, one per line, # starts a comment; - for standard input');
}

export async function runOnNames(
  cli: Cli,
  { names, file, outcome, ...options }: NamesOptions & { names: readonly string[]; outcome: string },
  run: (db: Database, name: Name, owner: Owner) => Promise<DomainOutcome>,
): Promise<void> {
  const { collectDomainNames } = await import('../terminal/collect-domain-names.ts');
  const { workOnDomains } = await import('../terminal/work-on-domains.ts');
  const domains = await collectDomainNames({ names, file });
  const signal = cli.interruptible();
  await cli.withStore((db) =>
    withOwner(db, options, cli.output, (owner) => {
      const act = ({ name }: WantedDomain) => run(db, name, owner);
      return workOnDomains({ domains, outcome, act, signal }, cli.output);
    }),
  );
}
