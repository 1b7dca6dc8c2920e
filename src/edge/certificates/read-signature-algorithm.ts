// By which algorithm a certificate is signed. Node does not say it before version 24, so the few octets are read here.

import { readElement } from './read-element.ts';

const SEQUENCE = 0x30;
const OBJECT_IDENTIFIER = 0x06;

/** The identifiers of signatures that browsers accept, in hexadecimal (RFC 4055 §5, RFC 5758 §3.2). */
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

/** The name of the algorithm where browsers do not accept it; undefined: they do. `der` is a whole certificate. */
export function findRefusedAlgorithm(der: Uint8Array): string | undefined {
  const certificate = readElement(der, 0);
  const signed = certificate && readElement(der, certificate.start);
  const algorithm = signed && readElement(der, signed.end);
  const identifier = algorithm && readElement(der, algorithm.start);
  if (algorithm?.tag !== SEQUENCE || identifier?.tag !== OBJECT_IDENTIFIER) return 'an unknown algorithm';
  const hex = Buffer.from(der.subarray(identifier.start, identifier.end)).toString('hex');
  return hex in ACCEPTED ? undefined : (REFUSED[hex] ?? 'an unknown algorithm');
}
