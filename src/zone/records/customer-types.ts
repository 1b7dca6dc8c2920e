// The record types that customers may write, and the limits of their fields. ANAME is not a wire type: its rdata is the
// target's name, and addresses are published for it.

import { upperCaseAscii } from '../../dns/ascii.ts';
import { TYPE, typeMnemonic } from '../../dns/type-codes.ts';

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
  'LOC',
  'DNAME',
  'SMIMEA',
  'OPENPGPKEY',
  'CERT',
  'HINFO',
  'DHCID',
] as const;

export type NamedType = (typeof API_TYPES)[number];
/** A type without a mnemonic, whose rdata is opaque (RFC 3597 §5). */
type GenericType = `TYPE${number}`;
export type ApiType = NamedType | GenericType;
export type WireType = Exclude<ApiType, 'ANAME'>;

/** The form of a generic type. Some types of this form are not allowed: see `readApiType`. */
export const GENERIC_TYPE = /^TYPE[1-9][0-9]{0,4}$/;

/** Zone files are read with this code for ANAME. It is for private use (RFC 6895 §3.1); PowerDNS uses it for ALIAS. */
export const ANAME_CODE = 65_401;

const NAMED: ReadonlySet<string> = new Set(API_TYPES);
const MAX_CODE = 65_535;
const MAX_QUOTED_CHARACTERS = 20;

type ReadType =
  | { readonly kind: 'type'; readonly type: ApiType }
  | { readonly kind: 'problem'; readonly message: string };

/** Reads a type in any case. */
export function readApiType(text: string): ReadType {
  const type = upperCaseAscii(text);
  if (isApiType(type)) return { kind: 'type', type };
  return { kind: 'problem', message: GENERIC_TYPE.test(type) ? whyNotGeneric(type) : unknownType(text) };
}

export function isApiType(text: string): text is ApiType {
  return NAMED.has(text) || (GENERIC_TYPE.test(text) && isGenericCode(Number(text.slice(4))));
}

export function isGenericType(type: ApiType): type is GenericType {
  return !NAMED.has(type);
}

function isGenericCode(code: number): boolean {
  return code <= MAX_CODE && !isReserved(code) && typeMnemonic(code) === `TYPE${code}`;
}

/** Query and meta types have the codes 128 to 255, and 65535 is reserved (RFC 6895 §3.1). */
function isReserved(code: number): boolean {
  return (code >= 128 && code <= 255) || code === MAX_CODE || code === ANAME_CODE;
}

function whyNotGeneric(type: string): string {
  const code = Number(type.slice(4));
  if (code > MAX_CODE) return `the number of a type is at most ${MAX_CODE}, not ${code}`;
  if (code === ANAME_CODE) return `${type} is reserved for ANAME: write the type as ANAME`;
  const mnemonic = typeMnemonic(code);
  if (NAMED.has(mnemonic)) return `${type} is ${mnemonic}: write the type as ${mnemonic}`;
  return mnemonic === type
    ? `${type} is reserved and cannot be the type of a record`
    : `${type} is ${mnemonic}, a type that customers cannot write`;
}

function unknownType(text: string): string {
  const expected = `the type must be one of ${API_TYPES.join(', ')}, or TYPE and a number`;
  return text.length > MAX_QUOTED_CHARACTERS ? expected : `${expected}, not "${text}"`;
}

export function wireTypeCode(type: WireType): number {
  return isGenericType(type) ? Number(type.slice(4)) : TYPE[type];
}

/** The wire types with a mnemonic that customers' records can have. */
export const RECORD_TYPE_CODES: ReadonlySet<number> = new Set(
  API_TYPES.flatMap((type) => (type === 'ANAME' ? [] : [wireTypeCode(type)])),
);

/** The types that locate a host. Only these may be proxied. At one name, either all or none of them are. */
const ADDRESS_LIKE: ReadonlySet<ApiType> = new Set(['A', 'AAAA', 'CNAME', 'ANAME'] as const);

export function isAddressLike(type: ApiType): boolean {
  return ADDRESS_LIKE.has(type);
}

export const MIN_TTL_SECONDS = 60;
export const MAX_TTL_SECONDS = 86_400;
export const DEFAULT_TTL_SECONDS = 300;
/** Bounds the time until a proxied name no longer points to an edge address that fails. */
export const MAX_PROXIED_TTL_SECONDS = 300;

export const MAX_PORT = 65_535;
export const MAX_MX_PRIORITY = 65_535;
/** Priority of an imported MX record that does not specify one. */
export const DEFAULT_MX_PRIORITY = 10;
export const MAX_TIMEOUT_SECONDS = 3_600;
export const MAX_COMMENT_CHARACTERS = 1_024;
