// Prints a verification, as text or as JSON: the record to publish, the response of each server, and the result.

import type { Domain, Verification } from '../../store/domains/domain.ts';
import type { VerificationRun } from '../../store/verifications/load-verifications.ts';
import type { DomainStatus } from '../../zone/domain/domain-status.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { indentTable, joinBlocks } from '../terminal/blocks.ts';
import { type Paint, painter } from '../terminal/paint.ts';
import { printTable } from '../terminal/print-table.ts';

export function printVerification(
  domain: Domain,
  verification: Verification,
  run: VerificationRun | undefined,
  { before, colours }: { readonly before: DomainStatus; readonly colours: boolean },
): string {
  const paint = painter(colours);
  const { host, value, expiresAt, verified } = verification;
  const until = verified ? '' : `  (until ${expiresAt.toISOString()})`;
  return joinBlocks([
    [paint('bold', printWithoutDot(domain.name)), `  ${printWithoutDot(host)}  TXT  ${value}${until}`],
    ...(run === undefined ? [] : [serverLines(run, paint), resolverLines(run, paint)]),
    endLines({ ...domain, verification }, run, before, paint),
  ]);
}

function serverLines(
  { servers, startedAt, finishedAt, found, asked }: VerificationRun,
  paint: Paint,
): string[] {
  if (servers.length === 0) return [];
  const seconds = ((finishedAt.getTime() - startedAt.getTime()) / 1000).toFixed(1);
  const rows = servers.map(({ server, address, outcome, values = [] }) => [
    printWithoutDot(server),
    address === '' ? '-' : address,
    outcome,
    values.length === 0 ? '-' : values.map((value) => JSON.stringify(value)).join(' '),
  ]);
  return [
    paint('bold', `Nameservers of the domain (${found} of ${asked} have it, ${seconds} s)`),
    ...indentTable(printTable(['SERVER', 'ADDRESS', 'OUTCOME', 'TXT'], rows)),
  ];
}

function resolverLines({ resolvers }: VerificationRun, paint: Paint): string[] {
  if (resolvers.length === 0) return [];
  const rows = resolvers.map(({ address, outcome }) => [address, outcome]);
  return [
    paint('bold', 'Public resolvers (for information only)'),
    ...indentTable(printTable(['ADDRESS', 'OUTCOME'], rows)),
  ];
}

function endLines(
  { status, findings, verification }: Domain,
  run: VerificationRun | undefined,
  before: DomainStatus,
  paint: Paint,
): string[] {
  const colour = verification?.verified ? 'green' : run?.verdict === 'unknown' ? 'yellow' : 'red';
  const verdict =
    run === undefined ? [] : [`${paint('bold', 'Verdict')} ${paint(colour, run.verdict)}: ${run.message}`];
  return [
    ...verdict,
    ...(run === undefined && verification?.verified !== true ? [RENEWED] : []),
    `Status ${before === status ? status : `${before} -> ${status}`}`,
    ...findings.map(({ code, message }) => `  ${code}: ${message}`),
  ];
}

const RENEWED = 'The previous value has expired. Publish this one instead.';

export function verificationJson(
  domain: Domain,
  { host, value, verified, expiresAt, nextAt }: Verification,
  run: VerificationRun | undefined,
): object {
  return {
    domain: printWithoutDot(domain.name),
    outcome: verified ? 'verified' : 'not_verified',
    status: domain.status,
    host: printWithoutDot(host),
    value,
    verified,
    expires_at: expiresAt.toISOString(),
    next_attempt_at: nextAt?.toISOString() ?? null,
    findings: domain.findings.map(({ code, message }) => ({ code, message })),
    verification: run === undefined ? null : runJson(run),
  };
}

function runJson(run: VerificationRun): object {
  const { id, verdict, found, asked, servers, resolvers, message, evidence } = run;
  return {
    id,
    checked_at: run.finishedAt.toISOString(),
    verdict,
    found,
    asked,
    servers: servers.map(({ server, address, outcome, values }) => ({
      server: printWithoutDot(server),
      address: address === '' ? null : address,
      outcome,
      ...(values !== undefined && { values }),
    })),
    resolvers,
    message,
    evidence,
  };
}
