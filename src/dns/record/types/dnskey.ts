// A zone's public key (RFC 4034 §2).

import { TYPE } from '../../type-codes.ts';
import { base64, checked, u8, u16 } from '../fields.ts';
import { recordType } from '../record-type.ts';
import { securityAlgorithm } from '../security-algorithm.ts';

const protocol = checked(u8, (value) => (value === 3 ? undefined : 'the protocol must be 3')); // RFC 4034 §2.1.2

/** CDNSKEY has the same rdata (RFC 7344 §3.2). */
export const publicKey = { flags: u16, protocol, algorithm: securityAlgorithm, publicKey: base64 };

export const DNSKEY = recordType(TYPE.DNSKEY, publicKey);
