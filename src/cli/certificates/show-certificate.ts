// `certificates show`: the certificate of one domain, and the order for the next one.

import { loadSsl } from '../../store/certificates/load-ssl.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { Cli } from '../terminal/cli.ts';
import { onOneDomain } from '../terminal/on-one-domain.ts';
import { printTable } from '../terminal/print-table.ts';
import type { OwnerOption } from '../terminal/with-owner.ts';
import { certificateJson, statusOf } from './certificate-json.ts';

export async function showCertificate(cli: Cli, text: string, options: OwnerOption): Promise<void> {
  const { output } = cli;
  await cli.withStore((db) =>
    onOneDomain(db, text, options, output, async ({ id, name }) => {
      const now = new Date();
      const domain = printWithoutDot(name);
      const stored = (await loadSsl(db, [id])).get(id) ?? { certificate: undefined, order: undefined };
      const { certificate, order } = stored;
      if (output.json) await output.print(JSON.stringify(certificateJson({ ...stored, domain }, now)));
      else {
        const lines: [string, string | undefined][] = [
          ['status', statusOf(stored, now)],
          ['names', (certificate?.names ?? order?.names)?.join(' ')],
          ['begins', certificate?.notBefore.toISOString()],
          ['ends', certificate?.notAfter.toISOString()],
          ['issuer', certificate?.issuer],
          ['fingerprint', certificate?.fingerprint],
          ['order', order && (order.step === 'resting' ? 'none under way' : order.step)],
          ['renewal', order?.renewAt?.toISOString()],
          ['next look', order?.nextAt?.toISOString()],
          ['failures', order && order.attempts > 0 ? `${order.attempts} in a row` : undefined],
          ['last error', order?.lastError],
          ...(order?.findings ?? []).map(({ code, message }): [string, string] => [
            'finding',
            `${code}: ${message}`,
          ]),
        ];
        const known = lines.flatMap(([head, value]) => (value === undefined ? [] : [[`  ${head}`, value]]));
        await output.print(printTable([domain, ''], known));
      }
      return certificate === undefined ? 1 : 0;
    }),
  );
}
