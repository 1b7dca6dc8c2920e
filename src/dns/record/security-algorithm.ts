// The algorithm number of DNSSEC keys and signatures, with the mnemonics of RFC 4034 A.1 and of IANA's registry ("DNS
// Security Algorithm Numbers").

import { numberOrMnemonic, u8 } from './fields.ts';

export const securityAlgorithm = numberOrMnemonic(u8, {
  RSAMD5: 1,
  DH: 2,
  DSA: 3,
  ECC: 4,
  RSASHA1: 5,
  'DSA-NSEC3-SHA1': 6,
  'RSASHA1-NSEC3-SHA1': 7,
  RSASHA256: 8,
  RSASHA512: 10,
  'ECC-GOST': 12,
  ECDSAP256SHA256: 13,
  ECDSAP384SHA384: 14,
  ED25519: 15,
  ED448: 16,
  INDIRECT: 252,
  PRIVATEDNS: 253,
  PRIVATEOID: 254,
});
