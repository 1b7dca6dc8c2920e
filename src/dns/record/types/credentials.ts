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

export const CERT = recordType(TYPE.CERT, {
  certificateType,
  keyTag: u16,
  algorithm: securityAlgorithm,
  certificate: base64,
});

export const DHCID = recordType(TYPE.DHCID, { digest: base64 });

const NO_KEY = 0xc000; // RFC 2535 §3.1.2

const keyOrNothing: Field<Uint8Array> = {
  ...base64,
  parse: (tokens) => (tokens.peek() === undefined ? new Uint8Array() : base64.parse(tokens)),
  decode: (wire) => wire.take(wire.left),
};

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

export const OPENPGPKEY = recordType(TYPE.OPENPGPKEY, { publicKey: base64 });

const DIGEST_OCTETS: Readonly<Record<number, number>> = { 1: 20, 2: 32 };

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

export const TLSA = recordType(TYPE.TLSA, certificateAssociation);

export const SMIMEA = recordType(TYPE.SMIMEA, certificateAssociation);
