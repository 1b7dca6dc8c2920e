// `zonefleet analytics …`.

import { type Command, Option } from 'commander';
import type { Cli } from '../../cli/terminal/cli.ts';
import { type OwnerOption, ownerOption } from '../../cli/terminal/with-owner.ts';
import type { PeriodOption } from './cli-show.ts';

const DOMAIN = "the domain's name";
const DEFAULT_PERIOD = '24h';
const period = (...choices: string[]) =>
  new Option('--period <period>', 'the time up to now, in whole hours or days of UTC')
    .choices(choices)
    .default(DEFAULT_PERIOD);
const PERIODS = ['3h', '6h', '12h', '24h', '7d', '30d'];

export function addAnalyticsCommands(program: Command, cli: Cli): void {
  const analytics = program
    .command('analytics')
    .description('what edges and nameservers answered for a domain; needs the analytics store');
  const summary = analytics
    .command('summary')
    .description('the requests that edges answered, in a time')
    .argument('<domain>', DOMAIN)
    .addOption(period(...PERIODS));
  ownerOption(summary).action(async (text: string, options: PeriodOption) => {
    const { showSummary } = await import('./cli-show.ts');
    await showSummary(cli, text, options);
  });
  const traffic = analytics
    .command('traffic')
    .description('the traffic of the quota period, and what the plan includes; exit 1 without a plan')
    .argument('<domain>', DOMAIN);
  ownerOption(traffic).action(async (text: string, options: OwnerOption) => {
    const { showTraffic } = await import('./cli-show.ts');
    await showTraffic(cli, text, options);
  });
  const dns = analytics
    .command('dns')
    .description('what nameservers answered, by type, rcode and node, in a time')
    .argument('<domain>', DOMAIN)
    .addOption(period('1h', ...PERIODS));
  ownerOption(dns).action(async (text: string, options: PeriodOption) => {
    const { showDns } = await import('./cli-show.ts');
    await showDns(cli, text, options);
  });
}
