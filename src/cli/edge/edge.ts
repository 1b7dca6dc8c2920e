// `zonefleet edge …`: the edge nodes (reverse proxies of the operator), the regions of countries, and which regions serve a domain.

import type { Command } from 'commander';
import type { Cli } from '../terminal/cli.ts';
import { addServeCommand } from './serve.ts';

export function addEdgeCommands(program: Command, cli: Cli): void {
  const edge = program
    .command('edge')
    .description('edge nodes: the proxies whose addresses proxied records publish');
  edge
    .command('create')
    .description('register an edge and show its token, once; exit 1 if it is refused')
    .argument('<name>', 'small letters, digits, dots and hyphens')
    .requiredOption('--region <region>', 'where it stands: small letters, digits and hyphens')
    .requiredOption('--address <address...>', 'the addresses at which visitors reach it')
    .option('--allow-loopback', 'take loopback addresses too: for tests on one machine')
    .action(async (name: string, options: { region: string; address: string[]; allowLoopback?: boolean }) => {
      const { createOne } = await import('./change-edges.ts');
      await createOne(cli, name, options);
    });
  edge
    .command('rotate')
    .description('give an edge another token and show it, once; the one before counts no more')
    .argument('<name>')
    .action(async (name: string) => {
      const { rotateOne } = await import('./change-edges.ts');
      await rotateOne(cli, name);
    });
  edge
    .command('drain')
    .description('publish the addresses of an edge no more; it is told configs as before')
    .argument('<name>')
    .option('--undo', 'publish them again')
    .action(async (name: string, { undo = false }: { undo?: boolean }) => {
      const { drainOne } = await import('./change-edges.ts');
      await drainOne(cli, name, !undo);
    });
  edge
    .command('revoke')
    .description('let the token of an edge count no more, and publish its addresses no more')
    .argument('<name>')
    .action(async (name: string) => {
      const { revokeOne } = await import('./change-edges.ts');
      await revokeOne(cli, name);
    });
  edge
    .command('list')
    .description('list the edges, what they said last, and the rules that they cannot obey')
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
    .description('say of which region visitors from countries are')
    .usage('[options] <country...> <region> | list | remove <country...>')
    .argument('[words...]', 'countries (ISO 3166-1 alpha-2, like SE), and last the region')
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
    .description('let visitors from countries get the default addresses; exit 1 if one had no region')
    .argument('<country...>')
    .action(async (words: string[]) => {
      const { removeSome } = await import('./regions.ts');
      await removeSome(cli, words);
    });
}
