// The critical extensions of a certificate that browsers do not know: they refuse it (RFC 5280 §4.2). Node does not tell
// which extensions there are.

import { type Element, readElement } from './read-element.ts';

const OBJECT_IDENTIFIER = 0x06;
const BOOLEAN = 0x01;
/** `[3] EXPLICIT Extensions`, the last member of what is signed (RFC 5280 §4.1). */
const EXTENSIONS = 0xa3;
/** More are in no certificate that is meant to be used. */
const MAX_EXTENSIONS = 100;

/** What RFC 5280 §4.2.1 says for the web, in hexadecimal: 2.5.29.N. */
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

/** Marks what an authority sent to a log before it issued the certificate (RFC 6962 §3.1). */
const POISON = '2b06010401d679020403';

/** In words; undefined: there is none. `der` is a whole certificate. */
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
    if (hex === POISON) return 'the mark of a precertificate';
    if (!KNOWN.has(hex)) return `the unknown critical extension ${printIdentifier(octets)}`;
  }
  return undefined;
}

function members(der: Uint8Array, { start, end }: Element): Element[] {
  const found: Element[] = [];
  // One more than is accepted is enough to refuse.
  for (let at = start; at < end && found.length <= MAX_EXTENSIONS; ) {
    const element = readElement(der, at);
    if (element === undefined || element.end > end) break;
    found.push(element);
    at = element.end;
  }
  return found;
}

/** With dots (X.690 §8.19). */
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
