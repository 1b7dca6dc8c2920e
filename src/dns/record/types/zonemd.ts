// The digest of a whole zone (RFC 8976 §2). Operator zones are served as they are written, so a digest in the zone file
// stays true. It is neither verified nor computed here: after a change of the zone it must be made anew elsewhere.

import { TYPE } from '../../type-codes.ts';
import { hex, u8, u32 } from '../fields.ts';
import { recordType } from '../record-type.ts';

const MIN_DIGEST_OCTETS = 12; // RFC 8976 §2.2.4

/** SHA-384 and SHA-512 (RFC 8976 §2.2.3). */
const DIGEST_OCTETS: Readonly<Record<number, number>> = { 1: 48, 2: 64 };

export const ZONEMD = recordType(
  TYPE.ZONEMD,
  { serial: u32, scheme: u8, hashAlgorithm: u8, digest: hex },
  {
    check({ hashAlgorithm, digest }) {
      const octets = DIGEST_OCTETS[hashAlgorithm];
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
