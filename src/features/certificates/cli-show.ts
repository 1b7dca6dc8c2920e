// Lists, shows and requests certificates.

import type { Cli } from '../../cli/terminal/cli.ts';
import { Failure } from '../../cli/terminal/failure.ts';
import { onOneDomain } from '../../cli/terminal/on-one-domain.ts';
import { Listing } from '../../cli/terminal/output.ts';
import { type Cell, printTable } from '../../cli/terminal/print-table.ts';
import type { OwnerOption } from '../../cli/terminal/with-owner.ts';
import { certificateStatus } from '../../edge/certificates/certificate-status.ts';
import { loadSsl, type StoredSsl } from '../../store/certificates/load-ssl.ts';
import { CertificatesUnavailable } from '../../store/certificates/open-certificate.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { requestCertificateFor } from './sql.ts';
import { type DomainSsl, streamSsl } from './sql-list.ts';

function statusOf({ certificate, order }: StoredSsl, now: Date) {
  return certificateStatus({ certificate, order: order && (order.isFailed ? 'failed' : 'pending'), now });
}

function certificateJson(ssl: StoredSsl & { readonly domain: string }, now: Date): object {
  const { domain, certificate, order } = ssl;
  return {
    domain,
    status: statusOf(ssl, now),
    names: certificate?.names ?? order?.names ?? [],
    not_before: certificate?.notBefore.toISOString() ?? null,
    not_after: certificate?.notAfter.toISOString() ?? null,
    issuer: certificate?.issuer ?? null,
    fingerprint: certificate?.fingerprint ?? null,
    order:
      order === undefined
        ? null
        : {
            step: order.step,
            names: order.names,
            attempts: order.attempts,
            last_error: order.lastError ?? null,
            failed_at: order.failedAt?.toISOString() ?? null,
            next_at: order.nextAt?.toISOString() ?? null,
            renews_at: order.renewAt?.toISOString() ?? null,
            findings: order.findings,
          },
  };
}

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

/** By default, selects what an operator may have to act on. */
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
          ['order', order && (order.step === 'resting' ? 'none in progress' : order.step)],
          ['renewal', order?.renewAt?.toISOString()],
          ['next check', order?.nextAt?.toISOString()],
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

export async function requestCertificate(cli: Cli, text: string, options: OwnerOption): Promise<void> {
  const { output } = cli;
  await cli.withStore((db) =>
    onOneDomain(db, text, options, output, async ({ id, name }) => {
      const domain = printWithoutDot(name);
      const changed = await orFailure(
        cli.audited(db, 'ssl.issue', async (trx, tell) => {
          const asked = await requestCertificateFor(trx, { domainId: id, isOperator: true });
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
      const words =
        changed.kind === 'changed' ? 'requested: workers will order it' : 'an order is already in progress';
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
