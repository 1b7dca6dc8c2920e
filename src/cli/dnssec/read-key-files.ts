// Reads private keys from files of dnssec-keygen, pdnsutil, the PowerDNS API and keymgr.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { foldCase, type Name, parseName } from '../../dns/name.ts';
import { type GivenKey, readDnskey } from '../../zone/signing/private-key.ts';
import { flagsOf } from '../../zone/signing/signing-key.ts';
import { Failure } from '../terminal/failure.ts';
import { explainFileError } from '../terminal/find-zone-files.ts';
import { readStandardInput } from '../terminal/read-standard-input.ts';

const MAX_BYTES = 64 * 1024;
const PRIVATE = '.private';

interface KeyOptions {
  /** One number for all keys, or one per key. */
  readonly flags: readonly number[];
  readonly algorithm: number | undefined;
}

/** Ignores the `.key` and `.state` files next to a `.private` file; its public part is read anyway. Throws Failure. */
export async function readKeyFiles(
  paths: readonly string[],
  apex: Name,
  { flags, algorithm }: KeyOptions,
): Promise<GivenKey[]> {
  const privatePaths = paths.filter((path) => !isPublic(path) || !paths.includes(privatePathOf(path)));
  if (flags.length > 1 && flags.length !== privatePaths.length)
    throw new Failure('usage', 'give --flags once, or once for each private key');
  const keys: GivenKey[] = [];
  for (const [i, path] of privatePaths.entries()) {
    const text = path === '-' ? withoutMark(await readStandardInput()) : readText(path);
    if (isPublic(path) && !HAS_PRIVATE_KEY.test(text))
      throw new Failure(
        'file',
        `${path}: this file does not contain the private key: give ${privatePathOf(path)}`,
      );
    const given = { ...fieldsOf(path, text), ...publicPartOf(path, apex) };
    const dnskey = 'dnskey' in given ? given.dnskey : undefined;
    const said = flags[i] ?? flags[0] ?? given.flags ?? (dnskey && flagsOf(dnskey));
    if (said === undefined)
      throw new Failure(
        'usage',
        `${path}: the flags of the key are unknown: give --flags 257 for a key with a DS, --flags 256 for one that signs only data`,
      );
    keys.push({ privateKey: given.privateKey, flags: said, algorithm, dnskey });
  }
  return keys;
}

/** Matches the files that dnssec-keygen writes next to a private key. A PEM key may also have the extension `.key`. */
function isPublic(path: string): boolean {
  return /\.(?:key|state)$/.test(path);
}

function privatePathOf(path: string): string {
  return path.replace(/\.\w+$/, PRIVATE);
}

const HAS_PRIVATE_KEY = /PRIVATE KEY-----|Private-key-format|"privatekey"/;

function readText(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > MAX_BYTES) throw new Failure('file', `${path}: the file is too large for a key`);
    return withoutMark(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure('file', `${path}: ${explainFileError(error)}`, { cause: error });
  }
}

/** Removes a byte order mark. */
function withoutMark(text: string): string {
  return text.replace(/^\ufeff/, '');
}

type Fields = Pick<GivenKey, 'privateKey' | 'dnskey'> & { readonly flags?: number };

/** Parses JSON of the PowerDNS API. Other text is returned as the private key. */
function fieldsOf(path: string, text: string): Fields {
  if (!text.trimStart().startsWith('{')) return { privateKey: text };
  const { privatekey, dnskey, flags } = parseObject(path, text);
  if (typeof privatekey !== 'string')
    throw new Failure('file', `${path}: it has no "privatekey": request only this key from PowerDNS`);
  return {
    privateKey: privatekey,
    ...(typeof dnskey === 'string' && { dnskey: dnskeyOf(path, dnskey) }),
    ...(typeof flags === 'number' && { flags }),
  };
}

function parseObject(path: string, text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new Failure('file', `${path}: the file is not valid JSON`); // the parser's message would repeat the key
  }
}

function dnskeyOf(path: string, text: string): Uint8Array {
  const dnskey = readDnskey(text);
  if (dnskey === undefined) throw new Failure('file', `${path}: the DNSKEY in the file is not valid`);
  return dnskey;
}

const RECORD = /^(\S+)\s+(?:\d+\s+)?(?:IN\s+)?(?:\d+\s+)?DNSKEY\s+(.+)$/im;

/** Reads the record in the `.key` file next to a `.private` file. */
function publicPartOf(path: string, apex: Name): Pick<GivenKey, 'dnskey'> {
  if (!path.endsWith(PRIVATE)) return {};
  const keyFile = `${path.slice(0, -PRIVATE.length)}.key`;
  if (!existsSync(keyFile)) return {};
  const [, owner = '', fields = ''] = RECORD.exec(readText(keyFile).replace(/;.*$/gm, '')) ?? [];
  if (fields === '') throw new Failure('file', `${keyFile}: the file has no DNSKEY record`);
  if (!isNameOf(owner, apex))
    throw new Failure('file', `${keyFile}: the DNSKEY record belongs to another zone`);
  return { dnskey: dnskeyOf(keyFile, fields) };
}

function isNameOf(owner: string, apex: Name): boolean {
  try {
    return foldCase(parseName(owner)) === foldCase(apex);
  } catch {
    return false;
  }
}
