// Decides whether two rdata are the same record: names inside are compared without regard to case (RFC 4343),
// everything else octet by octet.

import { foldCase, type Name, nameInRdata } from '../../dns/name.ts';
import { rdataNames } from '../../dns/record/rdata.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { type ApiType, type NamedType, type WireType, wireTypeCode } from './customer-types.ts';

/** Start of the name at the end of the rdata. Undefined if there is none, or (NAPTR) its position varies. */
const NAME_FROM: Record<NamedType, number | undefined> = {
  A: undefined,
  AAAA: undefined,
  CNAME: 0,
  ANAME: 0,
  NS: 0,
  TXT: undefined,
  MX: 2,
  SRV: 6,
  PTR: 0,
  CAA: undefined,
  TLSA: undefined,
  SSHFP: undefined,
  URI: undefined,
  HTTPS: undefined,
  SVCB: undefined,
  DS: undefined,
  NAPTR: undefined,
  LOC: undefined,
  DNAME: 0,
  SMIMEA: undefined,
  OPENPGPKEY: undefined,
  CERT: undefined,
  HINFO: undefined,
  DHCID: undefined,
};

export function rdataKey(type: ApiType, rdata: Uint8Array): string {
  const octets = Buffer.from(rdata.buffer, rdata.byteOffset, rdata.byteLength).toString('latin1');
  const from =
    type === 'NAPTR'
      ? octets.length - (rdataNames(TYPE.NAPTR, rdata)[0] as Name).length
      : NAME_FROM[type as NamedType];
  return from === undefined ? octets : octets.slice(0, from) + foldCase(octets.slice(from) as Name);
}

/** Returns the host that a record points to, folded. Returns undefined for types without one. */
export function targetOf(type: ApiType, rdata: Uint8Array): Name | undefined {
  const from = NAME_FROM[type as NamedType];
  if (from !== undefined) return foldCase(nameInRdata(rdata, from));
  const [name] = rdataNames(wireTypeCode(type as WireType), rdata);
  return name === undefined ? undefined : foldCase(name);
}
