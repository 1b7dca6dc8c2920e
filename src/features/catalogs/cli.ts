// `zonefleet catalog …`: catalogs that this fleet produces, and catalogs of other operators whose members it copies.

import type { Command } from 'commander';
import type { Cli } from '../../cli/terminal/cli.ts';
import { commandOf } from '../../cli/terminal/commands.ts';
import type { ConsumeOptions } from './cli-consume.ts';
import type { RemoveOptions } from './cli-list.ts';
import type { CreateOptions } from './cli-produce.ts';

const CATALOG = "the catalog's name";

export function addCatalogCommands(program: Command, cli: Cli): void {
  const catalog = commandOf(program, 'catalog');
  addProducing(catalog, cli);
  catalog
    .command('consume')
    .description(
      'copy a catalog of another operator, and the zones that it lists; or change the options of one that is copied',
    )
    .argument('<name>', CATALOG)
    .requiredOption('--from <peer...>', 'peers that are primaries, in the order in which they are asked')
    .option('--group <group=policy...>', 'transfer policies of members, by group')
    .option('--max-members <number>', 'maximum number of members (default: 100000)')
    .action(async (name: string, options: ConsumeOptions) =>
      (await import('./cli-consume.ts')).consumeNamed(cli, name, options),
    );
  catalog
    .command('confirm')
    .description('allow the removals of the version that waits, because most of the catalog would be removed')
    .argument('<name>', CATALOG)
    .action(async (name: string) => (await import('./cli-consume.ts')).confirmNamed(cli, name));
  catalog
    .command('list')
    .description('list the catalogs; exit 1 if one is full, broken or waits for a confirmation')
    .action(async () => (await import('./cli-list.ts')).listCatalogs(cli));
  catalog
    .command('members')
    .description('list the members of a catalog')
    .argument('<name>', CATALOG)
    .action(async (name: string) => (await import('./cli-list.ts')).listMembersOf(cli, name));
  catalog
    .command('remove')
    .description('remove a catalog of this fleet, whose members stay; or stop copying one')
    .argument('<name>', CATALOG)
    .option('--keep-members', "of another operator's catalog: its members stay copies of their primary")
    .option('--unload-members', "of another operator's catalog: its members are unloaded")
    .action(async (name: string, options: RemoveOptions) =>
      (await import('./cli-list.ts')).removeCatalog(cli, name, options),
    );
}

function addProducing(catalog: Command, cli: Cli): void {
  catalog
    .command('create')
    .description('create a catalog of zones of this fleet, which peers of its transfer policy may read')
    .argument('<name>', CATALOG)
    .option(
      '--select <zones>',
      'zones that become members: all, or account=ID (default: those added by hand)',
    )
    .option('--policy <policy>', 'transfer policy of the catalog (default: the default policy)')
    .option('--group-by-policy', 'give each member the name of its transfer policy as its group')
    .option('--max-members <number>', 'maximum number of members', '100000')
    .action(async (name: string, options: CreateOptions) =>
      (await import('./cli-produce.ts')).createCatalogNamed(cli, name, options),
    );
  catalog
    .command('set')
    .description('change the limit of a catalog of this fleet')
    .argument('<name>', CATALOG)
    .requiredOption('--max-members <number>', 'maximum number of members')
    .action(async (name: string, options: { readonly maxMembers: string }) =>
      (await import('./cli-produce.ts')).setCatalog(cli, name, options),
    );
  const member = catalog
    .command('member')
    .description('add zones to a catalog of this fleet by hand, and remove them');
  for (const [verb, description] of [
    ['add', 'add zones; each is listed while nodes serve it whole'],
    ['remove', 'remove zones that were added by hand'],
  ] as const)
    member
      .command(verb)
      .description(description)
      .argument('<catalog>', CATALOG)
      .argument('<zone...>', 'zone names')
      .action(async (name: string, zones: readonly string[]) =>
        (await import('./cli-produce.ts')).changeMembers(cli, verb, name, zones),
      );
}
