// `zonefleet certificates …`: the certificates of domains, and their orders.

import type { Command } from 'commander';
import type { Cli } from '../../cli/terminal/cli.ts';
import { commandOf } from '../../cli/terminal/commands.ts';
import { type OwnerOption, ownerOption } from '../../cli/terminal/with-owner.ts';

export function addCertificateCommands(program: Command, cli: Cli): void {
  const certificates = commandOf(program, 'certificates');
  certificates
    .command('list')
    .description('list the domains whose certificate is being ordered, is due, has failed or expires soon')
    .option('--failed', 'only those whose last order failed')
    .option('--all', 'all domains that have a certificate or an order')
    .action(async (options: { all?: boolean; failed?: boolean }) => {
      const { listCertificates } = await import('./cli-show.ts');
      await listCertificates(cli, options);
    });
  const show = certificates
    .command('show')
    .description('show the certificate of a domain and its order; exits with 1 if it has no certificate')
    .argument('<domain>', "the domain's name");
  ownerOption(show).action(async (text: string, options: OwnerOption) => {
    const { showCertificate } = await import('./cli-show.ts');
    await showCertificate(cli, text, options);
  });
  const issue = certificates
    .command('issue')
    .description(
      'order the certificate of a domain now, even after a failure; exits with 1 if that is not possible',
    )
    .argument('<domain>', "the domain's name");
  ownerOption(issue).action(async (text: string, options: OwnerOption) => {
    const { requestCertificate } = await import('./cli-show.ts');
    await requestCertificate(cli, text, options);
  });
}
