// Signs zones as BIND and ldns do: other people's programs decide what a signed zone consists of.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseName, printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { typeMnemonic } from '../../../src/dns/type-codes.ts';
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts';
import type { ZoneFileRecord } from '../../../src/dns/zone-file/zone-file.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import type { DenialStyle } from './denial-chain.ts';

export type SignerName = 'dnssec-signzone' | 'ldns-signzone';

/** One key that signs the keys and one that signs all else, for zones of one name. */
export class DebianSigner {
  readonly #program: SignerName;
  readonly #apex: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'zonefleet-signer-'));
  readonly #keys: readonly string[];

  constructor(program: SignerName, apex: string) {
    this.#program = program;
    this.#apex = apex;
    const [maker, flag] =
      program === 'ldns-signzone' ? ['ldns-keygen', ['-k']] : ['dnssec-keygen', ['-f', 'KSK']];
    this.#keys = [flag, []].map((more) => this.#run(maker as string, '-a', 'ECDSAP256SHA256', ...more, apex));
  }

  sign(records: readonly ZoneRecord[], denial: DenialStyle): ZoneFileRecord[] {
    const lines = records.map(
      ({ owner, type, ttl, rdata }) =>
        `${printName(owner)} ${ttl} IN ${typeMnemonic(type)} ${printRdata(type, rdata)}\n`,
    );
    writeFileSync(join(this.#folder, 'zone'), lines.join(''));
    if (this.#program === 'ldns-signzone') {
      this.#run('ldns-signzone', ...ldnsDenial(denial), '-f', 'signed', 'zone', ...this.#keys);
    } else {
      this.#run(
        'dnssec-signzone',
        '-S',
        '-P',
        ...bindDenial(denial),
        '-o',
        this.#apex,
        '-f',
        'signed',
        'zone',
      );
    }
    const text = readFileSync(join(this.#folder, 'signed'), 'utf8');
    const parsed = parseZoneFile(text, { origin: parseName(this.#apex) });
    const [problem] = parsed.problems;
    if (problem !== undefined) throw new Error(`line ${problem.line}: ${problem.message}`);
    return [...parsed.records];
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #run(program: string, ...args: string[]): string {
    return execFileSync(program, args, {
      cwd: this.#folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  }
}

function bindDenial(denial: DenialStyle): string[] {
  if (denial.kind === 'nsec') return [];
  const { salt, iterations, optOut } = denial;
  return ['-3', saltText(salt), '-H', String(iterations), ...(optOut ? ['-A'] : [])];
}

function ldnsDenial(denial: DenialStyle): string[] {
  if (denial.kind === 'nsec') return [];
  const { salt, iterations, optOut } = denial;
  const salted = salt.length === 0 ? [] : ['-s', saltText(salt)];
  return ['-n', '-t', String(iterations), ...salted, ...(optOut ? ['-p'] : [])];
}

function saltText(salt: Uint8Array): string {
  return salt.length === 0 ? '-' : Buffer.from(salt).toString('hex');
}
