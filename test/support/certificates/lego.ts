// Runs Debian's lego on pebble.

import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInstalled } from '../peers/peers.ts';
import { runShell } from '../tests/documented.ts';
import type { Pebble } from './pebble.ts';

/** Suffix of test names if a program is missing. */
export const LEGO_NEEDS = ['lego', 'pebble'].every(isInstalled) ? '' : ' (skipped: needs lego and pebble)';

interface LegoRun {
  readonly pebble: Pebble;
  /** Address and port of a nameserver that answers for the names. */
  readonly dns: string;
  /** Keeps accounts and certificates. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Runs a shell command with lego. lego does not check the nameservers itself, because it would use port 53: pebble validates
 * as soon as the provider has answered.
 */
export async function runLego(command: string, { pebble, dns, folder, env }: LegoRun) {
  const roots = join(folder, 'roots.pem');
  writeFileSync(roots, pebble.roots);
  const options = `--server ${pebble.directory} --dns.resolvers ${dns} --dns.disable-cp`;
  const line = command.replace(/\blego /, `lego ${options} `);
  return await runShell(line, { LEGO_PATH: folder, LEGO_CA_CERTIFICATES: roots, ...env });
}

/** Returns the names of a certificate that lego has stored under the first of them. */
export function legoNames(folder: string, first: string): string[] {
  const { subjectAltName = '' } = new X509Certificate(
    readFileSync(join(folder, 'certificates', `${first}.crt`)),
  );
  return subjectAltName.split(', ').sort();
}
