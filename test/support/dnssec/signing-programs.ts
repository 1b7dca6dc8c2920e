// Zones signed by other programs, BIND's dnssec-signzone and ldns-signzone, which Zonefleet serves unchanged.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ZoneText } from '../peers/peers.ts';
import { runIn } from '../validators/run-program.ts';

export interface SigningStyle {
  readonly name: string;
  readonly program: 'dnssec-signzone' | 'ldns-signzone';
  /** One of DNSSEC's algorithms (RFC 8624 §3.1). */
  readonly algorithm: 8 | 13 | 14 | 15;
  /** True for a key-signing and a zone-signing key. Otherwise one key signs everything. */
  readonly isSplit?: boolean;
  /** If absent, NSEC is used. */
  readonly nsec3?: { readonly iterations: number; readonly salt: string; readonly optOut: boolean };
}

const PLAIN_NSEC3 = { iterations: 0, salt: '', optOut: false };

export const SIGNING_STYLES: readonly SigningStyle[] = [
  { name: 'bind-nsec', program: 'dnssec-signzone', algorithm: 13 },
  { name: 'bind-nsec3', program: 'dnssec-signzone', algorithm: 15, nsec3: PLAIN_NSEC3 },
  {
    name: 'bind-salted',
    program: 'dnssec-signzone',
    algorithm: 8,
    isSplit: true,
    nsec3: { iterations: 5, salt: 'aabbccdd', optOut: false },
  },
  {
    name: 'bind-opt-out',
    program: 'dnssec-signzone',
    algorithm: 13,
    nsec3: { iterations: 1, salt: '00', optOut: true },
  },
  { name: 'ldns-nsec', program: 'ldns-signzone', algorithm: 8, isSplit: true },
  { name: 'ldns-nsec3', program: 'ldns-signzone', algorithm: 14, nsec3: PLAIN_NSEC3 },
  {
    name: 'ldns-salted',
    program: 'ldns-signzone',
    algorithm: 13,
    nsec3: { iterations: 3, salt: 'ab', optOut: false },
  },
];

export interface SignedText extends ZoneText {
  /** For the parent, as in a zone file. */
  readonly ds: string;
}

export async function signWith(style: SigningStyle, zone: ZoneText): Promise<SignedText> {
  const directory = await mkdtemp(join(tmpdir(), 'zonefleet-signing-'));
  const run = (program: string, args: readonly string[]) => runIn(directory, program, args);
  try {
    const { apex } = zone;
    const flags = style.isSplit ? [['-f', 'KSK'], []] : [['-f', 'KSK']];
    const size = style.algorithm === 8 ? ['-b', '2048'] : [];
    for (const flag of flags)
      await run('dnssec-keygen', ['-q', '-a', String(style.algorithm), ...size, ...flag, apex]);
    const keys = (await readdir(directory)).filter((file) => file.endsWith('.key')).sort();
    const texts = await Promise.all(keys.map((file) => readFile(join(directory, file), 'utf8')));
    const entry = keys[texts.findIndex((text) => / DNSKEY 257 /.test(text))] as string;
    const records = texts.map((text) => text.replace(/^;.*\n/gm, '')).join('');
    await writeFile(join(directory, 'zone'), `$ORIGIN ${apex}\n${zone.text}\n${records}`);
    await run(style.program, [...optionsOf(style, apex), 'zone', ...keys.map((key) => key.slice(0, -4))]);
    const signed = await readFile(join(directory, 'signed'), 'utf8');
    return { apex, text: signed, ds: (await run('dnssec-dsfromkey', ['-2', entry])).trim() };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function optionsOf({ program, isSplit, nsec3 }: SigningStyle, apex: string): string[] {
  const expires = new Date(Date.now() + 60 * 86_400_000).toISOString().replace(/[-:T]|\..*/g, '');
  const common = ['-o', apex, '-f', 'signed', '-e', expires];
  if (program === 'dnssec-signzone') {
    const hashed = nsec3 && ['-3', nsec3.salt || '-', '-H', String(nsec3.iterations)];
    return [...common, '-q', ...(isSplit ? [] : ['-z']), ...(hashed ?? []), ...(nsec3?.optOut ? ['-A'] : [])];
  }
  const hashed = nsec3 && ['-n', '-t', String(nsec3.iterations)];
  const salt = nsec3?.salt ? ['-s', nsec3.salt] : [];
  return [...common, ...(hashed ?? []), ...salt, ...(nsec3?.optOut ? ['-p'] : [])];
}
