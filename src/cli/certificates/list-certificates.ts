// `certificates list`: whose certificate is being ordered, has failed, or ends soon; or all of them.

import { type DomainSsl, streamSsl } from '../../store/certificates/stream-ssl.ts';
import type { Cli } from '../terminal/cli.ts';
import { Listing } from '../terminal/output.ts';
import { type Cell, printTable } from '../terminal/print-table.ts';
import { certificateJson, statusOf } from './certificate-json.ts';

interface ListOptions {
  readonly all?: boolean;
  readonly failed?: boolean;
}

const HEADS = ['DOMAIN', 'STATUS', 'ENDS', 'NEXT', 'FAILED', 'ACCOUNT', 'LAST ERROR'];
const SHOWN_CHARACTERS = 80;

export async function listCertificates(cli: Cli, options: ListOptions): Promise<void> {
  const { output } = cli;
  await cli.withStore(async (db) => {
    const now = new Date();
    const listing = new Listing(output, 'certificates');
    const rows: Cell[][] = [];
    for await (const ssl of streamSsl(db)) {
      if (!isWanted(ssl, options, now)) continue;
      if (output.json)
        await listing.add({ json: { ...certificateJson(ssl, now), account: { email: ssl.email } } });
      else rows.push(rowOf(ssl, now));
    }
    if (output.json) await listing.end({});
    else await output.print(printTable(HEADS, rows));
    return 0;
  });
}

/** Unasked: what an operator may have to do something about. */
function isWanted(ssl: DomainSsl, { all = false, failed = false }: ListOptions, now: Date): boolean {
  if (all) return true;
  const hasFailed = (ssl.order?.attempts ?? 0) > 0;
  if (failed) return hasFailed;
  const { renewAt } = ssl.order ?? {};
  const isDue = renewAt !== undefined && renewAt <= now;
  return hasFailed || isDue || ['pending', 'failed', 'expiring'].includes(statusOf(ssl, now));
}

function rowOf(ssl: DomainSsl, now: Date): Cell[] {
  const { domain, email, certificate, order } = ssl;
  return [
    domain,
    statusOf(ssl, now),
    minute(certificate?.notAfter),
    minute(order?.nextAt),
    order?.attempts ?? 0,
    email,
    order?.lastError?.slice(0, SHOWN_CHARACTERS) ?? '-',
  ];
}

function minute(at: Date | undefined): string {
  return at === undefined ? '-' : `${at.toISOString().slice(0, 16)}Z`;
}
