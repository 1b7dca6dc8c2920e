// A certificate or where to find one (RFC 4398 §2).

import { TYPE } from '../../type-codes.ts';
import { base64, numberOrMnemonic, u16 } from '../fields.ts';
import { recordType } from '../record-type.ts';
import { securityAlgorithm } from '../security-algorithm.ts';

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
