// The fingerprint of a host's SSH key (RFC 4255 §3.1, SHA-256 in RFC 6594 §4).

import { TYPE } from '../../type-codes.ts';
import { hex, u8 } from '../fields.ts';
import { recordType } from '../record-type.ts';

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
