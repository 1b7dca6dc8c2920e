// Reads and prints private keys in the formats of other software: the text of BIND and PowerDNS, and PKCS#8 as PEM for
// Knot. Also reads the PEM that `openssl ecparam -genkey` writes (SEC1). Errors never contain any part of a key.

import { createECDH, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { keyTag } from '../../dns/dnssec/key-tag.ts';
import { printRdata } from '../../dns/record/rdata.ts';
import { DNSKEY } from '../../dns/record/types/dnssec.ts';
import { TYPE } from '../../dns/type-codes.ts';
import {
  flagsOf,
  KEY_FLAGS,
  type MadeKey,
  readSigningKey,
  SIGNING_ALGORITHM,
  type SigningAlgorithm,
} from './signing-key.ts';

/** Keys of the supported algorithms have less than 1000. Longer texts are not read. */
export const MAX_PRIVATE_KEY_CHARACTERS = 4096;

type KeyFlags = (typeof KEY_FLAGS)[keyof typeof KEY_FLAGS];

/** A private key and its known attributes. Missing attributes are calculated. */
export interface GivenKey {
  readonly privateKey: string;
  readonly flags: number;
  readonly algorithm?: number | undefined;
  /** Rdata of its DNSKEY record. */
  readonly dnskey?: Uint8Array | undefined;
}

/** A key whose private and public parts match. */
export interface ImportedKey extends MadeKey {
  readonly flags: KeyFlags;
}

type ReadPrivateKey =
  | { readonly kind: 'key'; readonly key: ImportedKey }
  | { readonly kind: 'refused'; readonly message: string };

type ReadKeys =
  | { readonly kind: 'keys'; readonly keys: readonly ImportedKey[] }
  /** `index` is that of the invalid key. */
  | { readonly kind: 'refused'; readonly index: number; readonly message: string };

/** A zone has at most one key with a DS and one that signs data. */
export const MOST_IMPORTED_KEYS = 2;

const NAMES: Readonly<Record<SigningAlgorithm, string>> = {
  [SIGNING_ALGORITHM.ECDSAP256SHA256]: 'ECDSAP256SHA256',
  [SIGNING_ALGORITHM.ED25519]: 'ED25519',
};
const SUPPORTED =
  'Zonefleet signs with the algorithms 13 (ECDSAP256SHA256) and 15 (ED25519): roll the zone to one of them before you move it';
const SECRET_OCTETS = 32;
/** The octets of PKCS#8 before the seed (RFC 8410 §7). */
const ED25519_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Reads the keys that will sign a zone: one with flags 257, and optionally one with flags 256, which then signs the data. */
export function readPrivateKeys(given: readonly GivenKey[]): ReadKeys {
  if (given.length > MOST_IMPORTED_KEYS)
    return {
      kind: 'refused',
      index: MOST_IMPORTED_KEYS,
      message: 'a zone can be signed with at most two keys',
    };
  const keys: ImportedKey[] = [];
  for (const [index, each] of given.entries()) {
    const read = readPrivateKey(each);
    const message = read.kind === 'refused' ? read.message : faultBeside(keys, read.key);
    if (message !== undefined) return { kind: 'refused', index, message };
    if (read.kind === 'key') keys.push(read.key);
  }
  if (keys.some(({ flags }) => flags === KEY_FLAGS.ENTRY)) return { kind: 'keys', keys };
  return {
    kind: 'refused',
    index: 0,
    message: 'none of the keys has flags 257, so no DS can refer to one: add the key with flags 257',
  };
}

function faultBeside([first]: readonly ImportedKey[], key: ImportedKey): string | undefined {
  if (first === undefined) return undefined;
  if (first.algorithm !== key.algorithm) return 'the keys are of different algorithms';
  if (Buffer.from(first.secret).equals(key.secret)) return 'the same key is given twice';
  return first.flags === key.flags ? 'two keys have the same flags: provide only the one in use' : undefined;
}

/** Parses a key. Never throws. Refuses RSA keys of any size before it calculates anything. */
function readPrivateKey({ privateKey: given, flags, algorithm, dnskey }: GivenKey): ReadPrivateKey {
  const privateKey = given.replace(BYTE_ORDER_MARK, '');
  if (flags !== KEY_FLAGS.ZONE && flags !== KEY_FLAGS.ENTRY)
    return refused('flags must be 257 for a key with a DS, or 256 for a key that only signs data');
  if (privateKey.length > MAX_PRIVATE_KEY_CHARACTERS)
    return refused(`the private key is too long for the algorithms that are supported: ${SUPPORTED}`);
  const read = privateKey.includes('-----BEGIN') ? readPem(privateKey) : readText(privateKey);
  if ('refused' in read) return refused(read.refused);
  if (algorithm !== undefined && algorithm !== read.algorithm)
    return refused(`the private key has algorithm ${read.algorithm}, not ${algorithm}`);
  const publicKey = publicKeyOf(read);
  if (publicKey === undefined) return refused(`the private part is not a key of ${NAMES[read.algorithm]}`);
  if (read.publicKey !== undefined && !publicKey.equals(read.publicKey)) return refused(OTHER_PUBLIC);
  const rdata = Uint8Array.from(DNSKEY.encode({ flags, protocol: 3, algorithm: read.algorithm, publicKey }));
  if (dnskey !== undefined && !Buffer.from(dnskey).equals(rdata)) return refused(OTHER_PUBLIC);
  const { secret } = read;
  return {
    kind: 'key',
    key: { algorithm: read.algorithm, flags, tag: keyTag(rdata), dnskey: rdata, secret },
  };
}

const BYTE_ORDER_MARK = /^\ufeff/;
const OTHER_PUBLIC = 'the private key does not belong to its DNSKEY record';

function refused(message: string): ReadPrivateKey {
  return { kind: 'refused', message };
}

interface PrivateParts {
  readonly algorithm: SigningAlgorithm;
  readonly secret: Buffer;
  /** Undefined if the text does not contain the public key. */
  readonly publicKey?: Buffer;
}

type Parts = PrivateParts | { readonly refused: string };

/** Reads lines `Field: value`, as written by dnssec-keygen and pdnsutil. Times and unknown fields are ignored. */
function readText(text: string): Parts {
  const fields = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, name, value] = /^([A-Za-z0-9-]+):\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined) continue;
    if (fields.has(name)) return { refused: 'the text contains a field twice: provide one key at a time' };
    fields.set(name, value as string);
  }
  const format = fields.get('Private-key-format');
  if (format === undefined && /\bDNSKEY\b/.test(text))
    return { refused: 'it is a public key (DNSKEY record): the private key is in the file K*.private' };
  if (format === undefined)
    return {
      refused: 'it is neither a private key in the format of BIND and PowerDNS, nor PEM (PKCS#8 or SEC1)',
    };
  if (!/^v1\.\d+$/.test(format)) return { refused: 'its Private-key-format is not v1' };
  const [digits = ''] = /^\d{1,3}/.exec(fields.get('Algorithm') ?? '') ?? [];
  const algorithm = algorithmOf(Number(digits));
  if (digits === '') return { refused: 'it has no Algorithm' };
  if (algorithm === undefined)
    return { refused: `its algorithm is ${digits}, which is not supported: ${SUPPORTED}` };
  const base64 = fields.get('PrivateKey') ?? '';
  const octets = Buffer.from(base64, 'base64');
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(base64);
  // some programs omit leading zero octets of a scalar
  const isShort = algorithm === SIGNING_ALGORITHM.ECDSAP256SHA256 && octets.length < SECRET_OCTETS;
  if (!isBase64 || !(octets.length === SECRET_OCTETS || isShort))
    return { refused: `its PrivateKey is not ${SECRET_OCTETS} octets in base64` };
  return { algorithm, secret: Buffer.concat([Buffer.alloc(SECRET_OCTETS - octets.length), octets]) };
}

function algorithmOf(number: number): SigningAlgorithm | undefined {
  return Object.values(SIGNING_ALGORITHM).find((each) => each === number);
}

const PEM = /^\s*-----BEGIN ([A-Z0-9 ]+)-----\r?\n([A-Za-z0-9+/=\s]+)-----END \1-----\s*$/;
/** Written by `openssl ecparam -genkey` before the key, which names the curve again. */
const EC_PARAMETERS = /^\s*-----BEGIN EC PARAMETERS-----[A-Za-z0-9+/=\s]+-----END EC PARAMETERS-----/;
const PEM_TYPES: Readonly<Record<string, 'pkcs8' | 'sec1'>> = {
  'PRIVATE KEY': 'pkcs8',
  'EC PRIVATE KEY': 'sec1',
};
/** Object identifiers of the curve and of the algorithm that a key may have. */
const P256 = Buffer.from('06082a8648ce3d030107', 'hex');
const ED25519 = Buffer.from('06032b6570', 'hex');
/** The identifier begins within these octets of PKCS#8. In SEC1 it follows the private part. */
const HEAD_OCTETS = { pkcs8: 32, sec1: 64 } as const;
/** A key of P-256, with its public key and attributes, has at most 200. */
const MAX_DER_OCTETS = 512;

function readPem(text: string): Parts {
  if (/-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/m.test(text))
    return { refused: 'the PEM has a passphrase: remove it first' };
  const [, label = '', base64 = ''] = PEM.exec(text.replace(EC_PARAMETERS, '')) ?? [];
  const type = PEM_TYPES[label];
  if (type === undefined)
    return {
      refused:
        'a PEM must have one block -----BEGIN PRIVATE KEY----- (PKCS#8) or -----BEGIN EC PRIVATE KEY----- (SEC1), and nothing else',
    };
  const der = Buffer.from(base64, 'base64');
  const head = der.subarray(0, HEAD_OCTETS[type]);
  const algorithm = head.includes(P256)
    ? SIGNING_ALGORITHM.ECDSAP256SHA256
    : head.includes(ED25519)
      ? SIGNING_ALGORITHM.ED25519
      : undefined;
  if (algorithm === undefined || der.length > MAX_DER_OCTETS)
    return { refused: `the algorithm of the key in the PEM is not supported: ${SUPPORTED}` };
  const key = keyOfDer(der, type);
  const { d, x, y } = key?.export({ format: 'jwk' }) ?? {};
  if (d === undefined || x === undefined) return { refused: 'the PEM cannot be read as a private key' };
  const publicKey = Buffer.concat([x, y ?? ''].map((part) => Buffer.from(part, 'base64url')));
  return { algorithm, secret: Buffer.from(d, 'base64url'), publicKey };
}

function keyOfDer(key: Buffer, type: 'pkcs8' | 'sec1' = 'pkcs8'): KeyObject | undefined {
  try {
    return createPrivateKey({ key, format: 'der', type });
  } catch {
    return undefined;
  }
}

/** Calculates the public key. Returns undefined if the private part is out of range. */
function publicKeyOf({ algorithm, secret }: PrivateParts): Buffer | undefined {
  if (algorithm === SIGNING_ALGORITHM.ED25519) {
    const key = keyOfDer(Buffer.concat([ED25519_HEAD, secret]));
    const { x } = key === undefined ? {} : createPublicKey(key).export({ format: 'jwk' });
    return x === undefined ? undefined : Buffer.from(x, 'base64url');
  }
  const curve = createECDH('prime256v1');
  try {
    curve.setPrivateKey(secret);
  } catch {
    return undefined;
  }
  return curve.getPublicKey().subarray(1); // without the octet that means "uncompressed"
}

const KEY_FIELDS = /^(\d{1,5})\s+(\d{1,3})\s+(\d{1,3})\s+([A-Za-z0-9+/\s]+={0,2})$/;

/** Converts the fields of a DNSKEY record in a zone file to rdata. Returns undefined if they are invalid. */
export function readDnskey(text: string): Uint8Array | undefined {
  const [, flags, protocol, algorithm, base64 = ''] = KEY_FIELDS.exec(text.trim()) ?? [];
  const publicKey = Buffer.from(base64, 'base64');
  if (Number(flags) > 65_535 || Number(protocol) > 255 || Number(algorithm) > 255 || publicKey.length === 0)
    return undefined;
  return Uint8Array.from(
    DNSKEY.encode({
      flags: Number(flags),
      protocol: Number(protocol),
      algorithm: Number(algorithm),
      publicKey,
    }),
  );
}

export const KEY_FORMATS = ['bind', 'pem'] as const;
export type KeyFormat = (typeof KEY_FORMATS)[number];

/** Prints a key as BIND and PowerDNS read it, or as PKCS#8. */
export function printPrivateKey(dnskey: Uint8Array, secret: Uint8Array, format: KeyFormat): string {
  const { privateKey } = readSigningKey(dnskey, secret);
  if (format === 'pem') return privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
  const algorithm = dnskey[3] as SigningAlgorithm;
  return [
    'Private-key-format: v1.3',
    `Algorithm: ${algorithm} (${NAMES[algorithm]})`,
    `PrivateKey: ${Buffer.from(secret).toString('base64')}`,
    '',
  ].join('\n');
}

interface ExportedKey<Role> {
  readonly id: number;
  readonly role: Role;
  readonly tag: number;
  /** Rdata of the DNSKEY record. */
  readonly dnskey: Uint8Array;
  readonly secret: Uint8Array;
}

/** Describes an exported key in the JSON of the API and of the command line. */
export function describeKey<Role>({ id, role, tag, dnskey, secret }: ExportedKey<Role>, format: KeyFormat) {
  return {
    id,
    role,
    key_tag: tag,
    algorithm: dnskey[3] as number,
    flags: flagsOf(dnskey),
    dnskey: printRdata(TYPE.DNSKEY, dnskey),
    private_key: printPrivateKey(dnskey, secret, format),
  };
}
