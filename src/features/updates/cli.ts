// `zonefleet update allow`, `update list` and `update revoke`: grants of the operator's keys for dynamic update.

import type { Command } from 'commander';
import type { Cli } from '../../cli/terminal/cli.ts';
import { commandOf } from '../../cli/terminal/commands.ts';
import { ownerOption } from '../../cli/terminal/with-owner.ts';

export function addUpdateCommands(program: Command, cli: Cli): void {
  const update = commandOf(program, 'update');
  const allow = update
    .command('allow')
    .description(
      "allow a key to change names, instead of the key's earlier grants for them; exit 1 if no zone or domain contains one",
    )
    .argument('<key>', "the key's name")
    .argument('<name...>', "domain names, in an operator zone or a customer's domain")
    .option('--match <match>', 'exact, or subtree for the names and all names below them', 'exact')
    .option('--types <types>', 'comma-separated record types, such as TXT,A (default: all)')
    .option('--origin', 'also change the origins of proxied names');
  ownerOption(allow).action(async (key: string, names: string[], options) =>
    (await import('./cli-grants.ts')).allowNames(cli, key, names, options),
  );
  update
    .command('list')
    .description("list the names that the operator's keys may change")
    .action(async () => (await import('./cli-grants.ts')).listAllGrants(cli));
  update
    .command('revoke')
    .description('no longer allow a key to change names; exit 1 if it has no grant for one of them')
    .argument('<key>', "the key's name")
    .argument('[name...]', 'domain names (default: all that the key may change)')
    .action(async (key: string, names: string[]) =>
      (await import('./cli-grants.ts')).revokeNames(cli, key, names),
    );
}
