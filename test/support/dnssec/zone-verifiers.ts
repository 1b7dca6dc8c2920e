// The zone verifiers of others, and what they say against a zone of ours.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Name, printName } from '../../../src/dns/name.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import { printRecords } from './sign-as-ours.ts';

interface Verifier {
  readonly program: string;
  readonly args: (apex: string, file: string) => readonly string[];
  /** A complaint that is about the verifier and not about the zone. */
  readonly excused?: RegExp;
  /** It reads only zones whose names are plain, with wildcards at the front, and cuts with nothing but addresses beside. */
  readonly isPlain?: boolean;
}

export const VERIFIERS: readonly Verifier[] = [
  { program: 'ldns-verify-zone', args: (_, file) => [file] },
  {
    program: 'kzonecheck',
    args: (apex, file) => ['-o', apex, '-d', 'on', file],
    excused: /missing glue|CDS|CDNSKEY/,
  },
  // -z: one key may be both KSK and ZSK
  { program: 'dnssec-verify', args: (apex, file) => ['-z', '-o', apex, file] },
  // of 2016: it knows no algorithm 15, and on OpenSSL 3 verifies no signature of 13, not even BIND's
  {
    program: 'validns',
    args: (apex, file) => ['-z', apex.slice(0, -1), file],
    excused: /reason unknown|building pkey/,
    isPlain: true,
  },
];

/** What a verifier says against a zone. */
export function complaints(
  { program, args, excused }: Verifier,
  apex: Name,
  records: readonly ZoneRecord[],
): string {
  const folder = mkdtempSync(join(tmpdir(), 'zonefleet-verified-'));
  const file = join(folder, 'zone');
  writeFileSync(file, `${printRecords(records)}\n`);
  const { status, stdout, stderr } = spawnSync(program, args(printName(apex), file), {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin` },
  });
  rmSync(folder, { recursive: true });
  if (status === 0) return '';
  const told = `${stdout}${stderr}`.trim().split('\n');
  const left = told.filter((line) => line !== '' && line !== 'Error summary:' && !excused?.test(line));
  return left.length === 0 && told.some((line) => excused?.test(line))
    ? ''
    : `${program}: ${left.join('\n')}`;
}
