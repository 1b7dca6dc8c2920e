// `zonefleet scan NAME`: needs no database and changes nothing, except with `--import`.

import type { Command } from 'commander';
import { ROOT } from '../../dns/name.ts';
import type { Cli } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';
import { ProgressBar } from '../terminal/progress-bar.ts';

export function addScanCommand(program: Command, cli: Cli): void {
  program
    .command('scan')
    .description('look from here for the records that a domain has where it is delegated now; exit 1 if none')
    .argument('<name>', "the domain's name")
    .option('--import', 'add them to the domain of that name here, where it has none of the name and type')
    .action(async (text: string, options: { import?: true }) => {
      const domain = parseZoneName(text);
      if (domain === ROOT) throw new Failure('usage', 'the root cannot be scanned');
      const settings = await cli.settings();
      const { scanAndImport, scanName } = await import('./scan-name.ts');
      const bar = new ProgressBar(process.stderr);
      const order = { domain, settings, signal: cli.interruptible(), bar };
      if (options.import) {
        const { by } = cli.changedBy();
        await cli.withStore((db) => scanAndImport(db, { ...order, by }, cli.output));
      } else {
        cli.exitCode = await scanName(order, cli.output);
      }
    });
}
