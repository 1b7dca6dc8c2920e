// Keys, certificates and the policies for them, other than DNSSEC.

import { TYPE } from '../../type-codes.ts';
import { base64, characterString, checked, hex, numberOrMnemonic, text, u8, u16 } from '../fields.ts';
import { type Field, recordType } from '../record-type.ts';
import { securityAlgorithm } from '../security-algorithm.ts';

const octets = checked(characterString, (tag) =>
  /^[A-Za-z0-9]+$/.test(Buffer.from(tag).toString('latin1'))
    ? undefined
    : 'a tag is one or more ASCII letters and digits',
);

/** Printed without quotes, which RFC 8659 §4.1.1 does not allow. The case is preserved, but ignored when matching. */
const tag: Field<Uint8Array> = { ...octets, print: (value) => Buffer.from(value).toString('latin1') };

/** The authorities that may issue certificates (RFC 8659 §4). The value fills the rest of the rdata. */
export const CAA = recordType(TYPE.CAA, { flags: u8, tag, value: text });

const certificateType = numberOrMnemonic(u16, {
  PKIX: 1,
  SPKI: 2,
  PGP: 3,
  IPKIX: 4,
  ISPKI: 5,
  IPGP: 6,
  ACPKIX: 7,
  IACPKIX: 8,
  URI: 253,
  OID: 254,
});

/** A certificate or where to find one (RFC 4398 §2). */
export const CERT = recordType(TYPE.CERT, {
  certificateType,
  keyTag: u16,
  algorithm: securityAlgorithm,
  certificate: base64,
});

/** The DHCP client that a name belongs to (RFC 4701 §3.1). */
export const DHCID = recordType(TYPE.DHCID, { digest: base64 });

const NO_KEY = 0xc000; // RFC 2535 §3.1.2

const keyOrNothing: Field<Uint8Array> = {
  ...base64,
  parse: (tokens) => (tokens.peek() === undefined ? new Uint8Array() : base64.parse(tokens)),
  decode: (wire) => wire.take(wire.left),
};

/**
 * A public key of a host or a user, for example for signing dynamic updates (RFC 2535 §3.1, RFC 3445, RFC 2931). Keys
 * of zones are DNSKEY records.
 */
export const KEY = recordType(
  TYPE.KEY,
  { flags: u16, protocol: u8, algorithm: securityAlgorithm, publicKey: keyOrNothing },
  {
    check({ flags, publicKey }) {
      const hasNoKey = (flags & NO_KEY) === NO_KEY;
      if (hasNoKey === (publicKey.length === 0)) return undefined;
      const message = hasNoKey ? 'the flags say that the record has no key' : 'the field is missing';
      return { field: 'publicKey', message };
    },
  },
);

/** An OpenPGP public key (RFC 7929 §2.3). */
export const OPENPGPKEY = recordType(TYPE.OPENPGPKEY, { publicKey: base64 });

const DIGEST_OCTETS: Readonly<Record<number, number>> = { 1: 20, 2: 32 };

/** The fingerprint of a host's SSH key (RFC 4255 §3.1, SHA-256 in RFC 6594 §4). */
export const SSHFP = recordType(
  TYPE.SSHFP,
  { algorithm: u8, fingerprintType: u8, fingerprint: hex },
  {
    check({ fingerprintType, fingerprint }) {
      const octets = DIGEST_OCTETS[fingerprintType];
      if (octets === undefined || octets === fingerprint.length) return undefined;
      const message = `fingerprint type ${fingerprintType} has ${octets} octets, here are ${fingerprint.length}`;
      return { field: 'fingerprint', message };
    },
  },
);

/** SMIMEA has the same rdata (RFC 8162 §2). */
const certificateAssociation = { usage: u8, selector: u8, matchingType: u8, association: hex };

/** The certificate that a TLS server must use (RFC 6698 §2.1). */
export const TLSA = recordType(TYPE.TLSA, certificateAssociation);

/** The certificate that a mail sender must use: TLSA for S/MIME (RFC 8162 §2). */
export const SMIMEA = recordType(TYPE.SMIMEA, certificateAssociation);
