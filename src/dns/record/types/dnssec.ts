// Types of DNSSEC and of the provisioning of delegations.

import { TYPE, typeCode, typeMnemonic } from '../../type-codes.ts';
import { parseBase32Hex, parseHex, printBase32Hex, printHex } from '../base-encodings.ts';
import { base64, checked, domainName, hex, u8, u16, u32 } from '../fields.ts';
import { type Field, recordType } from '../record-type.ts';
import { securityAlgorithm } from '../security-algorithm.ts';
import { typeBitmap } from '../type-bitmap.ts';

/** CDS has the same rdata (RFC 7344 §3.1). */
const delegationDigest = { keyTag: u16, algorithm: securityAlgorithm, digestType: u8, digest: hex };

/** SHA-1, SHA-256 (RFC 4509), GOST (RFC 5933), SHA-384 (RFC 6605). */
const DIGEST_OCTETS: Readonly<Record<number, number>> = { 1: 20, 2: 32, 3: 32, 4: 48 };

function checkDigest(ds: { digestType: number; digest: Uint8Array }) {
  if (ds.digestType === 0) return { field: 'digestType', message: 'digest type 0 is reserved' }; // RFC 3658 §2.4
  const octets = DIGEST_OCTETS[ds.digestType];
  if (octets === undefined || octets === ds.digest.length) return undefined;
  const message = `digest type ${ds.digestType} has ${octets} octets, here are ${ds.digest.length}`;
  return { field: 'digest', message };
}

/** The digest of a child zone's key (RFC 4034 §5). */
export const DS = recordType(TYPE.DS, delegationDigest, { check: checkDigest });

const protocol = checked(u8, (value) => (value === 3 ? undefined : 'the protocol must be 3')); // RFC 4034 §2.1.2

/** CDNSKEY has the same rdata (RFC 7344 §3.2). */
const publicKey = { flags: u16, protocol, algorithm: securityAlgorithm, publicKey: base64 };

/** A zone's public key (RFC 4034 §2). */
export const DNSKEY = recordType(TYPE.DNSKEY, publicKey);

/** The DS that a child zone requests from its parent (RFC 7344 §3.1). `0 0 0 00` requests none (RFC 8078 §4). */
export const CDS = recordType(TYPE.CDS, delegationDigest, {
  check(cds) {
    if (cds.algorithm !== 0) return checkDigest(cds);
    const deletes =
      cds.keyTag === 0 && cds.digestType === 0 && cds.digest.length === 1 && cds.digest[0] === 0;
    return deletes ? undefined : { field: 'algorithm', message: 'algorithm 0 is only allowed in "0 0 0 00"' };
  },
});

/**
 * The DNSKEY whose DS a child zone requests from its parent (RFC 7344 §3.2). `0 3 0 AA==` requests none (RFC 8078
 * §4).
 */
export const CDNSKEY = recordType(TYPE.CDNSKEY, publicKey, {
  check(key) {
    if (key.algorithm !== 0) return undefined;
    const deletes = key.flags === 0 && key.publicKey.length === 1 && key.publicKey[0] === 0;
    return deletes
      ? undefined
      : { field: 'algorithm', message: 'algorithm 0 is only allowed in "0 3 0 AA=="' };
  },
});

const coveredType: Field<number> = {
  ...u16,
  parse(tokens) {
    const token = tokens.word();
    return typeCode(token.text) ?? tokens.fail(`"${token.text}" is not a record type`, token);
  },
  print: typeMnemonic,
};

/** RFC 4034 §3.2: fourteen digits are YYYYMMDDHHmmSS in UTC, and at most ten are seconds. */
const time: Field<number> = {
  ...u32,
  parse(tokens) {
    const token = tokens.word();
    const seconds = /^[0-9]{1,10}$/.test(token.text) ? Number(token.text) : secondsOfDate(token.text);
    if (seconds !== undefined && seconds <= 0xffffffff) return seconds;
    return tokens.fail(`"${token.text}" is not a time as YYYYMMDDHHmmSS or in seconds`, token);
  },
  print: dateOfSeconds,
};

function secondsOfDate(text: string): number | undefined {
  if (!/^[0-9]{14}$/.test(text)) return undefined;
  const seconds = Date.parse(text.replace(/^(....)(..)(..)(..)(..)(..)$/, '$1-$2-$3T$4:$5:$6Z')) / 1000;
  // Date accepts 24:00:00 and, in some engines, 31 February: a valid date prints as itself
  return seconds >= 0 && dateOfSeconds(seconds) === text ? seconds : undefined;
}

function dateOfSeconds(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/\.000Z$|[-T:]/g, '');
}

/** A signature over a record set (RFC 4034 §3). Times are seconds since 1970 modulo 2^32, printed as dates. */
export const RRSIG = recordType(TYPE.RRSIG, {
  typeCovered: coveredType,
  algorithm: securityAlgorithm,
  labels: u8,
  originalTtl: u32,
  expiration: time,
  inception: time,
  keyTag: u16,
  signer: domainName,
  signature: base64,
});

// The bitmap contains at least NSEC itself (RFC 4034 §4.1.2), so an empty one is an error.
const types = checked(typeBitmap, (codes) => (codes.length === 0 ? 'the type bitmap is empty' : undefined));

/** The next name of a signed zone and the types at this one (RFC 4034 §4). */
export const NSEC = recordType(TYPE.NSEC, { nextName: domainName, types });

const hashedName: Field<Uint8Array> = {
  parse(tokens) {
    const token = tokens.word();
    const octets = tokens.read(token, parseBase32Hex);
    return octets.length <= 255 ? octets : tokens.fail('the hash is longer than 255 octets', token);
  },
  print: printBase32Hex,
  decode(wire) {
    const length = wire.u8();
    return length > 0 ? wire.take(length) : wire.fail('the hash is empty'); // RFC 5155 §3.2: 1 to 255
  },
  encode: (octets) => Buffer.concat([Uint8Array.of(octets.length), octets]),
};

/** Hexadecimal without spaces, `-` for none (RFC 5155 §3.3). */
const salt: Field<Uint8Array> = {
  parse(tokens) {
    const token = tokens.word();
    if (token.text === '-') return new Uint8Array(0);
    const octets = tokens.read(token, parseHex);
    return octets.length <= 255 ? octets : tokens.fail('the salt is longer than 255 octets', token);
  },
  print: (octets) => (octets.length === 0 ? '-' : printHex(octets)),
  decode: (wire) => wire.take(wire.u8()),
  encode: (octets) => Buffer.concat([Uint8Array.of(octets.length), octets]),
};

/** NSEC3 begins with the same fields. */
const hashParameters = { hashAlgorithm: u8, flags: u8, iterations: u16, salt };

/** The parameters for hashing the names of a zone for NSEC3 (RFC 5155 §4). */
export const NSEC3PARAM = recordType(TYPE.NSEC3PARAM, hashParameters);

/** The next hashed name of a signed zone and the types at this one (RFC 5155 §3). */
export const NSEC3 = recordType(TYPE.NSEC3, {
  ...hashParameters,
  nextHashedName: hashedName,
  types: typeBitmap, // empty for an empty non-terminal (RFC 5155 §7.1)
});

/** The record sets that a child zone asks its parent to copy (RFC 7477 §2). */
export const CSYNC = recordType(TYPE.CSYNC, {
  serial: u32,
  flags: u16, // 1 immediate, 2 soaminimum; parents reject unknown flags (RFC 7477 §3.1)
  types: typeBitmap,
});

const MIN_DIGEST_OCTETS = 12; // RFC 8976 §2.2.4

/** SHA-384 and SHA-512 (RFC 8976 §2.2.3). */
const ZONE_DIGEST_OCTETS: Readonly<Record<number, number>> = { 1: 48, 2: 64 };

/**
 * The digest of a whole zone (RFC 8976 §2). Operator zones are served as written, so a digest in the zone file stays
 * correct. It is verified when a zone is transferred (zonemd.ts) and never computed: recompute it elsewhere after each
 * change of the zone.
 */
export const ZONEMD = recordType(
  TYPE.ZONEMD,
  { serial: u32, scheme: u8, hashAlgorithm: u8, digest: hex },
  {
    check({ hashAlgorithm, digest }) {
      const octets = ZONE_DIGEST_OCTETS[hashAlgorithm];
      if (octets === undefined ? digest.length >= MIN_DIGEST_OCTETS : digest.length === octets)
        return undefined;
      const message =
        octets === undefined
          ? `the digest has ${digest.length} octets, less than ${MIN_DIGEST_OCTETS}`
          : `hash algorithm ${hashAlgorithm} has ${octets} octets, here are ${digest.length}`;
      return { field: 'digest', message };
    },
  },
);
