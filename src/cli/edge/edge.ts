// `zonefleet edge …`: edge nodes (the operator's reverse proxies), the regions of countries, and the regions of domains.

import type { Command } from 'commander';
import type { Cli } from '../terminal/cli.ts';
import { commandOf } from '../terminal/commands.ts';
import { addServeCommand } from './serve.ts';

export function addEdgeCommands(program: Command, cli: Cli): void {
  const edge = commandOf(program, 'edge');
  edge
    .command('create')
    .description('register an edge and print its token once; exit 1 if refused')
    .argument('<name>', 'lowercase letters, digits, dots and hyphens')
    .requiredOption('--region <region>', 'region of the edge: lowercase letters, digits and hyphens')
    .requiredOption('--address <address...>', 'addresses at which visitors reach it')
    .option('--allow-loopback', 'allow loopback addresses, for tests on one machine')
    .action(async (name: string, options: { region: string; address: string[]; allowLoopback?: boolean }) => {
      const { createOne } = await import('./change-edges.ts');
      await createOne(cli, name, options);
    });
  edge
    .command('rotate')
    .description('replace the token of an edge and print it once; the previous token is no longer valid')
    .argument('<name>')
    .action(async (name: string) => {
      const { rotateOne } = await import('./change-edges.ts');
      await rotateOne(cli, name);
    });
  edge
    .command('drain')
    .description('stop publishing the addresses of an edge; it still receives its config')
    .argument('<name>')
    .option('--undo', 'publish them again')
    .action(async (name: string, { undo = false }: { undo?: boolean }) => {
      const { drainOne } = await import('./change-edges.ts');
      await drainOne(cli, name, !undo);
    });
  edge
    .command('revoke')
    .description('invalidate the token of an edge and stop publishing its addresses')
    .argument('<name>')
    .action(async (name: string) => {
      const { revokeOne } = await import('./change-edges.ts');
      await revokeOne(cli, name);
    });
  edge
    .command('list')
    .description('list the edges, their last reports, and the rules that they do not support')
    .action(async () => {
      const { showEdges } = await import('./list-edges.ts');
      await showEdges(cli);
    });
  addRegionCommands(edge, cli);
  addServeCommand(edge, cli);
}

function addRegionCommands(edge: Command, cli: Cli): void {
  const region = edge
    .command('region')
    .description('set the region for visitors from countries')
    .usage('[options] <country...> <region> | list | remove <country...>')
    .argument('[words...]', 'countries (ISO 3166-1 alpha-2, such as SE), followed by the region')
    .action(async (words: string[]) => {
      const { assignCountries } = await import('./regions.ts');
      await assignCountries(cli, words);
    });
  region
    .command('list')
    .description('list the countries that have a region')
    .action(async () => {
      const { showCountries } = await import('./regions.ts');
      await showCountries(cli);
    });
  region
    .command('remove')
    .description(
      'remove the region of countries, whose visitors then get the default addresses; exit 1 if one had no region',
    )
    .argument('<country...>')
    .action(async (words: string[]) => {
      const { removeSome } = await import('./regions.ts');
      await removeSome(cli, words);
    });
}
