// `certificates issue`: an order for the certificate of one domain, at once. The bounds of owners do not hold for operators.

import { CertificatesUnavailable } from '../../store/certificates/certificates-unavailable.ts';
import { askForCertificate } from '../../store/certificates/change-certificate.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { Cli } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';
import { onOneDomain } from '../terminal/on-one-domain.ts';
import type { OwnerOption } from '../terminal/with-owner.ts';

export async function askCertificate(cli: Cli, text: string, options: OwnerOption): Promise<void> {
  const { output } = cli;
  await cli.withStore((db) =>
    onOneDomain(db, text, options, output, async ({ id, name }) => {
      const domain = printWithoutDot(name);
      const changed = await orFailure(
        cli.audited(db, 'ssl.issue', async (trx, tell) => {
          const asked = await askForCertificate(trx, { domainId: id, isOperator: true });
          if (asked.kind === 'changed') tell({ domainId: id, target: { name: domain } });
          return asked;
        }),
      );
      if (changed.kind === 'absent' || changed.kind === 'refused') {
        const error = changed.kind === 'refused' ? changed.message : 'no such domain';
        if (output.json) await output.print(JSON.stringify({ domain, outcome: 'refused', error }));
        else await output.complain(`${domain}: ${error}`);
        return 1;
      }
      const outcome = changed.kind === 'changed' ? 'asked' : 'under_way';
      const words = changed.kind === 'changed' ? 'asked for: workers order it' : 'an order is under way';
      await output.print(output.json ? JSON.stringify({ domain, outcome }) : `${domain}: ${words}`);
      return 0;
    }),
  );
}

async function orFailure<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CertificatesUnavailable)
      throw new Failure('settings', error.message, { cause: error });
    throw error;
  }
}
