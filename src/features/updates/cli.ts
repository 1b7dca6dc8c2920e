// `zonefleet update allow`, `update list` and `update revoke`: what keys of the operator may change by dynamic update.

import type { Command } from 'commander';
import type { Cli } from '../../cli/terminal/cli.ts';

export function addUpdateCommands(program: Command, cli: Cli): void {
  const update = program.command('update').description('manage what TSIG keys may change by dynamic update');
  update
    .command('allow')
    .description('allow a key to change names; exit 1 if no zone or domain contains one of them')
    .argument('<key>', "the key's name")
    .argument('<name...>', "domain names, in an operator zone or a customer's domain")
    .option('--match <match>', 'exact, or subtree for the names and all names below them', 'exact')
    .option('--types <types>', 'comma-separated record types, such as TXT,A (default: all)')
    .option('--origin', 'also change the origins of proxied names')
    .action(async (key: string, names: string[], options: { match: string; types?: string; origin?: true }) =>
      (await import('./cli-grants.ts')).allowNames(cli, key, names, options),
    );
  update
    .command('list')
    .description('list what keys of the operator may change')
    .action(async () => (await import('./cli-grants.ts')).listAllGrants(cli));
  update
    .command('revoke')
    .description('no longer allow a key to change names; exit 1 if it was not allowed to')
    .argument('<key>', "the key's name")
    .argument('[name...]', 'domain names (default: all that the key may change)')
    .action(async (key: string, names: string[]) =>
      (await import('./cli-grants.ts')).revokeNames(cli, key, names),
    );
}
