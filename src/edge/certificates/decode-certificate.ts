// Reads the parts of a certificate that Node does not provide (X.509, RFC 5280): names, critical extensions, signature
// algorithm, and key.

import type { KeyObject } from 'node:crypto';

interface Element {
  readonly tag: number;
  /** Offsets of the contents. */
  readonly start: number;
  readonly end: number;
}

/** Returns undefined if there is no complete element. Supports lengths of up to four octets (X.690 §8.1.3). */
function readElement(der: Uint8Array, at: number): Element | undefined {
  const tag = der[at];
  const first = der[at + 1];
  if (tag === undefined || first === undefined) return undefined;
  const octets = first < 0x80 ? 0 : first - 0x80;
  if (octets > 4 || at + 2 + octets > der.length) return undefined;
  let length = octets === 0 ? first : 0;
  for (let i = 0; i < octets; i++) length = length * 256 + (der[at + 2 + i] as number);
  const start = at + 2 + octets;
  return start + length > der.length ? undefined : { tag, start, end: start + length };
}

export const MAX_PEM_CHARACTERS = 65_536;
/** A leaf and more intermediates than any authority uses. */
const MAX_BLOCKS = 10;

interface PemBlock {
  /** `CERTIFICATE`, `PRIVATE KEY` … */
  readonly label: string;
  readonly text: string;
}

/** Decodes the PEM blocks of a text (RFC 7468). Ignores text around the blocks, as other programs do. */
export function decodePem(text: string): { readonly blocks: readonly PemBlock[] } | { problem: string } {
  if (text.length > MAX_PEM_CHARACTERS) return { problem: 'it has more than 64 KiB' };
  const blocks: PemBlock[] = [];
  for (let at = text.indexOf(BEGIN); at >= 0; at = text.indexOf(BEGIN, at)) {
    const head = text.indexOf('-----', at + BEGIN.length);
    const label = head < 0 ? '' : text.slice(at + BEGIN.length, head);
    if (!/^[A-Z0-9 ]{1,40}$/.test(label)) return { problem: 'a BEGIN line is incomplete' };
    const foot = `-----END ${label}-----`;
    const end = text.indexOf(foot, head);
    if (end < 0) return { problem: `the line ${foot} is missing` };
    if (blocks.length === MAX_BLOCKS) return { problem: `it has more than ${MAX_BLOCKS} blocks` };
    const body = text.slice(head + 5, end).replace(/[ \t\r\n]+/g, '');
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(body) && !isEncrypted(text.slice(head, end)))
      return { problem: 'a block is not base64' };
    blocks.push({ label, text: `${text.slice(at, end)}${foot}\n` });
    at = end;
  }
  return { blocks };
}

const BEGIN = '-----BEGIN ';

/** Encrypted keys in the old format have header lines in their block (RFC 1421). */
function isEncrypted(block: string): boolean {
  return block.includes('ENCRYPTED');
}

interface AlternativeNames {
  /** DNS names in lower case. */
  readonly names: readonly string[];
  /** Other entries, such as addresses and mailboxes. */
  readonly others: readonly string[];
}

/** Node quotes names with special characters as JSON, so that one name cannot look like two (CVE-2021-44532). */
export function decodeAlternativeNames(text: string | undefined): AlternativeNames {
  const names: string[] = [];
  const others: string[] = [];
  for (const [, kind = '', quoted, plain = ''] of (text ?? '').matchAll(ENTRY)) {
    if (kind === 'DNS' && quoted === undefined) names.push(plain.toLowerCase().replace(/\.$/, ''));
    else others.push(`${kind}:${quoted ?? plain}`);
  }
  return { names: [...new Set(names)], others };
}

const ENTRY = /(?:^|, )([A-Za-z ]+):(?:("(?:[^"\\]|\\.)*")|([^,]*))/g;

const OBJECT_IDENTIFIER = 0x06;
const BOOLEAN = 0x01;
/** `[3] EXPLICIT Extensions`, the last member of the signed part (RFC 5280 §4.1). */
const EXTENSIONS = 0xa3;
/** No usable certificate has more. */
const MAX_EXTENSIONS = 100;

/** Extensions of RFC 5280 §4.2.1 that matter for the web, in hexadecimal: 2.5.29.N. */
const KNOWN = new Set(
  [
    15, // keyUsage
    17, // subjectAltName
    19, // basicConstraints
    30, // nameConstraints
    32, // certificatePolicies
    33, // policyMappings
    36, // policyConstraints
    37, // extKeyUsage
    54, // inhibitAnyPolicy
  ].map((number) => `551d${number.toString(16).padStart(2, '0')}`),
);

/** Critical extension of precertificates, which authorities send to logs before issuance (RFC 6962 §3.1). */
const POISON = '2b06010401d679020403';

/** Returns a description, or undefined if there is none. `der` is a complete certificate. */
export function findUnknownCritical(der: Uint8Array): string | undefined {
  const certificate = readElement(der, 0);
  const signed = certificate && readElement(der, certificate.start);
  if (signed === undefined) return undefined;
  const extensions = members(der, signed).find(({ tag }) => tag === EXTENSIONS);
  const list = extensions && readElement(der, extensions.start);
  if (list === undefined) return undefined;
  const found = members(der, list);
  if (found.length > MAX_EXTENSIONS) return `more than ${MAX_EXTENSIONS} extensions`;
  for (const extension of found) {
    const [identifier, critical] = members(der, extension);
    if (identifier?.tag !== OBJECT_IDENTIFIER || critical?.tag !== BOOLEAN || der[critical.start] === 0)
      continue;
    const octets = der.subarray(identifier.start, identifier.end);
    const hex = Buffer.from(octets).toString('hex');
    if (hex === POISON) return 'the precertificate extension';
    if (!KNOWN.has(hex)) return `the unknown critical extension ${printIdentifier(octets)}`;
  }
  return undefined;
}

function members(der: Uint8Array, { start, end }: Element): Element[] {
  const found: Element[] = [];
  // Stop at one more than the limit.
  for (let at = start; at < end && found.length <= MAX_EXTENSIONS; ) {
    const element = readElement(der, at);
    if (element === undefined || element.end > end) break;
    found.push(element);
    at = element.end;
  }
  return found;
}

/** Formats with dots (X.690 §8.19). */
function printIdentifier(octets: Uint8Array): string {
  const arcs: number[] = [];
  let arc = 0;
  for (const octet of octets.subarray(0, 32)) {
    arc = arc * 128 + (octet & 0x7f);
    if (octet < 0x80) {
      arcs.push(arc);
      arc = 0;
    }
  }
  const [first = 0, ...rest] = arcs;
  const top = Math.min(2, Math.floor(first / 40));
  return [top, first - top * 40, ...rest].join('.');
}

const SEQUENCE = 0x30;
const ALGORITHM_IDENTIFIER = 0x06;

/** Identifiers of signature algorithms that browsers accept, in hexadecimal (RFC 4055 §5, RFC 5758 §3.2). */
const ACCEPTED: Readonly<Record<string, string>> = {
  '2a864886f70d01010b': 'sha256WithRSAEncryption',
  '2a864886f70d01010c': 'sha384WithRSAEncryption',
  '2a864886f70d01010d': 'sha512WithRSAEncryption',
  '2a8648ce3d040302': 'ecdsa-with-SHA256',
  '2a8648ce3d040303': 'ecdsa-with-SHA384',
  '2a8648ce3d040304': 'ecdsa-with-SHA512',
};

const REFUSED: Readonly<Record<string, string>> = {
  '2a864886f70d010104': 'MD5 with RSA',
  '2a864886f70d010105': 'SHA-1 with RSA',
  '2a864886f70d01010a': 'RSA-PSS',
  '2a8648ce3d0401': 'ECDSA with SHA-1',
  '2a8648ce380403': 'DSA',
  '608648016503040302': 'DSA',
  '2b6570': 'Ed25519',
  '2b6571': 'Ed448',
};

/**
 * Returns the name of an algorithm that browsers do not accept. Returns undefined if they accept it. `der` is a complete
 * certificate.
 */
export function findRefusedAlgorithm(der: Uint8Array): string | undefined {
  const certificate = readElement(der, 0);
  const signed = certificate && readElement(der, certificate.start);
  const algorithm = signed && readElement(der, signed.end);
  const identifier = algorithm && readElement(der, algorithm.start);
  if (algorithm?.tag !== SEQUENCE || identifier?.tag !== ALGORITHM_IDENTIFIER) return 'an unknown algorithm';
  const hex = Buffer.from(der.subarray(identifier.start, identifier.end)).toString('hex');
  return hex in ACCEPTED ? undefined : (REFUSED[hex] ?? 'an unknown algorithm');
}

const CURVES: readonly string[] = ['prime256v1', 'secp384r1', 'secp521r1'];
/** P-521 with its point. Keys with explicit curve parameters are longer (forbidden by RFC 5480 §2.1.1). */
const NAMED_OCTETS = 160;
const RSA_BITS = { least: 2048, most: 8192 };

/** Returns the problem of the key, or undefined if there is none. */
export function judgeKey(key: KeyObject): string | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'rsa') {
    const bits = details?.modulusLength ?? 0;
    if (bits >= RSA_BITS.least && bits <= RSA_BITS.most) return undefined;
    return `an RSA key must have ${RSA_BITS.least} to ${RSA_BITS.most} bits, but this one has ${bits}`;
  }
  if (type === 'ec') {
    const curve = details?.namedCurve;
    const isNamed = key.export({ type: 'spki', format: 'der' }).length <= NAMED_OCTETS;
    if (curve !== undefined && CURVES.includes(curve) && isNamed) return undefined;
    if (curve !== undefined && !isNamed)
      return `an EC key must name one of the curves P-256, P-384 and P-521, but this one has explicit curve parameters`;
    return `an EC key must use one of the curves P-256, P-384 and P-521, but this one uses ${curve ?? 'another'}`;
  }
  return `browsers do not accept keys of type ${type ?? 'unknown'}: use RSA or EC`;
}
