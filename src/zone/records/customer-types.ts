// The record types that customers may write, and the limits of their fields. ANAME is one of them and not a wire type:
// its rdata is the target's name, and addresses are published for it.

import { TYPE } from '../../dns/type-codes.ts';

export const API_TYPES = [
  'A',
  'AAAA',
  'CNAME',
  'ANAME',
  'NS',
  'TXT',
  'MX',
  'SRV',
  'PTR',
  'CAA',
  'TLSA',
  'SSHFP',
  'URI',
  'HTTPS',
  'SVCB',
  'DS',
  'NAPTR',
] as const;

export type ApiType = (typeof API_TYPES)[number];
export type WireType = Exclude<ApiType, 'ANAME'>;

export function isApiType(text: string): text is ApiType {
  return (API_TYPES as readonly string[]).includes(text);
}

export function wireTypeCode(type: WireType): number {
  return TYPE[type];
}

/** The wire types that a customer's record can be of. */
export const RECORD_TYPE_CODES: ReadonlySet<number> = new Set(
  API_TYPES.flatMap((type) => (type === 'ANAME' ? [] : [wireTypeCode(type)])),
);

/** The types that say where a host is: the only ones that may be proxied, at one name all of them or none. */
const ADDRESS_LIKE: ReadonlySet<ApiType> = new Set(['A', 'AAAA', 'CNAME', 'ANAME'] as const);

export function isAddressLike(type: ApiType): boolean {
  return ADDRESS_LIKE.has(type);
}

export const MIN_TTL_SECONDS = 60;
export const MAX_TTL_SECONDS = 86_400;
export const DEFAULT_TTL_SECONDS = 300;
/** A proxied name must be able to leave an edge address that fails. */
export const MAX_PROXIED_TTL_SECONDS = 300;

export const MAX_PORT = 65_535;
export const MAX_MX_PRIORITY = 65_535;
/** Of an imported MX that says none. */
export const DEFAULT_MX_PRIORITY = 10;
export const MAX_TIMEOUT_SECONDS = 3_600;
export const MAX_COMMENT_CHARACTERS = 1_024;
