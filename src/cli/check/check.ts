// `zonefleet check NAME`: needs no database and changes nothing.

import type { Command } from 'commander';
import { ROOT } from '../../dns/name.ts';
import type { Cli } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';

export function addCheckCommand(program: Command, cli: Cli): void {
  program
    .command('check')
    .description('look at the delegation of a name from here, without a database; exit 1 unless it matches')
    .argument('<name>', "the domain's name")
    .action(async (text: string) => {
      const domain = parseZoneName(text);
      if (domain === ROOT) throw new Failure('usage', 'the root has no parent zone that could delegate it');
      const settings = await cli.settings();
      const { checkName } = await import('./check-name.ts');
      cli.exitCode = await checkName(domain, settings, cli.interruptible(), cli.output);
    });
}
