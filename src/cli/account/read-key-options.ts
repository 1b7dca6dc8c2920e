// Parses the options that restrict a new API key.

import { type KeyScope, readKeyScope } from '../../zone/edit/read-key-scope.ts';
import { Failure } from '../terminal/failure.ts';

export interface KeyOptions {
  readonly name: string;
  readonly readOnly?: true;
  readonly expires?: string;
  readonly domains?: string;
  readonly names?: string;
  readonly types?: string;
  readonly acme?: string;
}

interface WantedKey extends KeyScope {
  readonly name: string;
  readonly readOnly: boolean;
  readonly expiresAt: Date | null;
}

export function readKeyOptions(options: KeyOptions, now: Date): WantedKey {
  const isAcme = options.acme !== undefined;
  if (isAcme && (options.names ?? options.types) !== undefined)
    throw new Failure('usage', '--acme: cannot be combined with --names or --types');
  if (isAcme && options.readOnly)
    throw new Failure(
      'usage',
      '--acme: cannot be combined with --read-only, because clients write the challenges',
    );
  const read = readKeyScope({
    domains: listOf(options.domains, '--domains'),
    names: isAcme ? listOf(options.acme, '--acme')?.map(challengeName) : listOf(options.names, '--names'),
    types: isAcme ? ['TXT'] : listOf(options.types, '--types'),
  });
  if (read.kind === 'problem') {
    const option = isAcme && read.field === 'names' ? 'acme' : read.field;
    throw new Failure('usage', `--${option}: ${read.message}`);
  }
  return {
    name: options.name,
    readOnly: options.readOnly ?? false,
    expiresAt: options.expires === undefined ? null : readMoment(options.expires, now),
    ...read.scope,
  };
}

/** Returns the name of the TXT records with which certificates for the name or its wildcard are validated (RFC 8555 §8.4). */
function challengeName(name: string): string {
  if (/^_acme-challenge\./i.test(name))
    throw new Failure(
      'usage',
      `--acme: expected the name in the certificate, without "_acme-challenge.": ${name}`,
    );
  return `_acme-challenge.${name.replace(/^\*\./, '')}`;
}

function listOf(text: string | undefined, option: string): string[] | undefined {
  const items = text?.split(',').map((item) => item.trim());
  if (items?.includes('')) throw new Failure('usage', `${option}: expected a comma-separated list`);
  return items;
}

const UNIT_MS = { h: 3_600_000, d: 86_400_000 } as const;
const MAX_YEARS = 1000;

/** Parses `90d`, `12h`, or an ISO 8601 time. A date without a time is its beginning in UTC. */
function readMoment(text: string, now: Date): Date {
  const [, count, unit] = /^([1-9]\d{0,5})([hd])$/.exec(text) ?? [];
  const isMoment = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  const ms =
    count !== undefined
      ? now.getTime() + Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]
      : isMoment
        ? Date.parse(text)
        : Number.NaN;
  if (Number.isNaN(ms) || ms > now.getTime() + MAX_YEARS * 366 * UNIT_MS.d) {
    throw new Failure(
      'usage',
      `--expires: expected 90d, 12h, 2030-01-31 or 2030-01-31T12:00:00Z, not "${text}"`,
    );
  }
  if (ms <= now.getTime()) throw new Failure('usage', `--expires: ${text} is in the past`);
  return new Date(ms);
}
