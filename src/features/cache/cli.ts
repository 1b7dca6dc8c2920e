// `zonefleet cache …`: lists cached entries, and purges them.

import type { Command } from 'commander';
import type { Cli } from '../../cli/terminal/cli.ts';
import { commandOf } from '../../cli/terminal/commands.ts';
import { type OwnerOption, ownerOption } from '../../cli/terminal/with-owner.ts';
import type { KeysOptions } from './cli-keys.ts';
import type { PurgeOptions } from './cli-purges.ts';

const DOMAIN = "the domain's name";

export function addCacheCommands(program: Command, cli: Cli): void {
  const cache = commandOf(program, 'cache');
  const keys = cache
    .command('keys')
    .description('list cached entries, newest first')
    .argument('<domain>', DOMAIN)
    .option('--host <text>', 'part of the host, or a pattern for the whole host, in which * is any text')
    .option('--path <text>', 'part of the path, or a pattern, as for --host')
    .option('--node <edge>', 'only entries of this edge')
    .option('--limit <number>', 'maximum number of entries, up to 1000', '100')
    .option('--offset <number>', 'number of entries to skip', '0');
  ownerOption(keys).action(async (text: string, options: KeysOptions) => {
    const { listKeys } = await import('./cli-keys.ts');
    await listKeys(cli, text, options);
  });
  const purge = cache
    .command('purge')
    .description('make edges delete cached entries; specify exactly one of the options')
    .argument('<domain>', DOMAIN)
    .option('--all', 'all entries')
    .option('--host <host>', 'all entries of a host; *.name selects those of a wildcard record')
    .option('--url <url>', 'one URL with its query, for http and https')
    .option('--prefix <url>', 'all entries whose URL begins with this prefix, with any query');
  ownerOption(purge).action(async (text: string, options: PurgeOptions) => {
    const { purgeCache } = await import('./cli-purges.ts');
    await purgeCache(cli, text, options);
  });
  const refresh = cache
    .command('refresh')
    .description('make edges fetch a URL again')
    .argument('<domain>', DOMAIN)
    .argument('<url>', 'one URL with its query, for http and https');
  ownerOption(refresh).action(async (text: string, url: string, options: OwnerOption) => {
    const { refreshUrl } = await import('./cli-purges.ts');
    await refreshUrl(cli, text, url, options);
  });
  const purges = cache
    .command('purges')
    .description('list the latest purges of a domain, or show which edges have completed one')
    .argument('<domain>', DOMAIN)
    .argument('[id]', 'the number of a purge');
  ownerOption(purges).action(async (text: string, id: string | undefined, options: OwnerOption) => {
    const { listPurges, showPurge } = await import('./cli-purges.ts');
    await (id === undefined ? listPurges(cli, text, options) : showPurge(cli, text, id, options));
  });
}
