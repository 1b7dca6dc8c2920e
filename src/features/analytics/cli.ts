// `zonefleet analytics …`.

import { type Command, Option } from 'commander';
import type { Cli } from '../../cli/terminal/cli.ts';
import { commandOf } from '../../cli/terminal/commands.ts';
import { type OwnerOption, ownerOption } from '../../cli/terminal/with-owner.ts';
import type { PeriodOption } from './cli-show.ts';

const DOMAIN = "the domain's name";
const DEFAULT_PERIOD = '24h';
const period = (...choices: string[]) =>
  new Option('--period <period>', 'period that ends now, in whole UTC hours or days')
    .choices(choices)
    .default(DEFAULT_PERIOD);
const PERIODS = ['3h', '6h', '12h', '24h', '7d', '30d'];

export function addAnalyticsCommands(program: Command, cli: Cli): void {
  const analytics = commandOf(program, 'analytics');
  const summary = analytics
    .command('summary')
    .description('show totals of the requests that edges answered in a period')
    .argument('<domain>', DOMAIN)
    .addOption(period(...PERIODS));
  ownerOption(summary).action(async (text: string, options: PeriodOption) => {
    const { showSummary } = await import('./cli-show.ts');
    await showSummary(cli, text, options);
  });
  const traffic = analytics
    .command('traffic')
    .description(
      'show the traffic of the current quota period and the limit of the plan; exits with 1 if there is no plan',
    )
    .argument('<domain>', DOMAIN);
  ownerOption(traffic).action(async (text: string, options: OwnerOption) => {
    const { showTraffic } = await import('./cli-show.ts');
    await showTraffic(cli, text, options);
  });
  const dns = analytics
    .command('dns')
    .description('show the DNS queries that nameservers answered in a period, by type, rcode and node')
    .argument('<domain>', DOMAIN)
    .addOption(period('1h', ...PERIODS));
  ownerOption(dns).action(async (text: string, options: PeriodOption) => {
    const { showDns } = await import('./cli-show.ts');
    await showDns(cli, text, options);
  });
}
