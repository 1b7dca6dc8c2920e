// `zonefleet cache …`: lists cached entries, and purges them.

import type { Command } from 'commander';
import type { Cli } from '../../cli/terminal/cli.ts';
import { type OwnerOption, ownerOption } from '../../cli/terminal/with-owner.ts';
import type { KeysOptions } from './cli-keys.ts';
import type { PurgeOptions } from './cli-purges.ts';

const DOMAIN = "the domain's name";

export function addCacheCommands(program: Command, cli: Cli): void {
  const cache = program
    .command('cache')
    .description('what edges have cached of a domain, and taking it away');
  const keys = cache
    .command('keys')
    .description('list what edges have cached, what was cached last first')
    .argument('<domain>', DOMAIN)
    .option('--host <text>', 'a part of the host; with *, any run of characters, the whole of it')
    .option('--path <text>', 'the same of the path')
    .option('--node <edge>', 'that of one edge')
    .option('--limit <number>', 'at most so many, up to 1000', '100')
    .option('--offset <number>', 'without the first ones', '0');
  ownerOption(keys).action(async (text: string, options: KeysOptions) => {
    const { listKeys } = await import('./cli-keys.ts');
    await listKeys(cli, text, options);
  });
  const purge = cache
    .command('purge')
    .description('have edges take away what they have cached: one of the options says what')
    .argument('<domain>', DOMAIN)
    .option('--all', 'everything')
    .option('--host <host>', 'everything of one host; *. before it is that of a wildcard record')
    .option('--url <url>', 'one URL with its query, over http and https')
    .option('--prefix <url>', 'everything whose URL begins so, with any query');
  ownerOption(purge).action(async (text: string, options: PurgeOptions) => {
    const { purgeCache } = await import('./cli-purges.ts');
    await purgeCache(cli, text, options);
  });
  const refresh = cache
    .command('refresh')
    .description('have edges fetch a URL anew')
    .argument('<domain>', DOMAIN)
    .argument('<url>', 'one URL with its query, over http and https');
  ownerOption(refresh).action(async (text: string, url: string, options: OwnerOption) => {
    const { refreshUrl } = await import('./cli-purges.ts');
    await refreshUrl(cli, text, url, options);
  });
  const purges = cache
    .command('purges')
    .description('list the last purges of a domain, or show one: which edges have done it')
    .argument('<domain>', DOMAIN)
    .argument('[id]', 'the number of a purge');
  ownerOption(purges).action(async (text: string, id: string | undefined, options: OwnerOption) => {
    const { listPurges, showPurge } = await import('./cli-purges.ts');
    await (id === undefined ? listPurges(cli, text, options) : showPurge(cli, text, id, options));
  });
}
