// `zonefleet certificates …`: the certificates of domains, and their orders.

import type { Command } from 'commander';
import type { Cli } from '../../cli/terminal/cli.ts';
import { type OwnerOption, ownerOption } from '../../cli/terminal/with-owner.ts';

export function addCertificateCommands(program: Command, cli: Cli): void {
  const certificates = program
    .command('certificates')
    .description('certificates of domains: what is ordered, due or failed');
  certificates
    .command('list')
    .description('list the domains whose certificate is being ordered, is due, has failed or ends soon')
    .option('--failed', 'those whose last order has failed alone')
    .option('--all', 'all that have a certificate, or an order for one')
    .action(async (options: { all?: boolean; failed?: boolean }) => {
      const { listCertificates } = await import('./cli-show.ts');
      await listCertificates(cli, options);
    });
  const show = certificates
    .command('show')
    .description('show the certificate of a domain and its order; exit 1 if it has none')
    .argument('<domain>', "the domain's name");
  ownerOption(show).action(async (text: string, options: OwnerOption) => {
    const { showCertificate } = await import('./cli-show.ts');
    await showCertificate(cli, text, options);
  });
  const issue = certificates
    .command('issue')
    .description('have the certificate of a domain ordered now, also after a failure; exit 1 if it cannot be')
    .argument('<domain>', "the domain's name");
  ownerOption(issue).action(async (text: string, options: OwnerOption) => {
    const { askCertificate } = await import('./cli-show.ts');
    await askCertificate(cli, text, options);
  });
}
