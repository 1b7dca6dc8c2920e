// `zonefleet check NAME`: needs no database and touches nothing.

import type { Command } from 'commander';
import { ROOT } from '../dns/name.ts';
import type { Cli } from './cli.ts';
import { Failure } from './failure.ts';
import { parseZoneName } from './parse-zone-name.ts';

export function addCheckCommand(program: Command, cli: Cli): void {
  program
    .command('check')
    .description('look at the delegation of a name from here, without a database; exit 1 unless it matches')
    .argument('<name>', "the domain's name")
    .action(async (text: string) => {
      const domain = parseZoneName(text);
      if (domain === ROOT) throw new Failure('usage', 'the root is delegated by nobody');
      const settings = await cli.settings();
      const { checkName } = await import('./check-name.ts');
      cli.exitCode = await checkName(domain, settings, cli.interruptible(), cli.output);
    });
}
