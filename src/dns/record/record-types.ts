// All record types with a text form of their own, by code.

import type { RecordType } from './record-type.ts';
import { APL } from './types/apl.ts';
import { CAA, CERT, DHCID, KEY, OPENPGPKEY, SMIMEA, SSHFP, TLSA } from './types/credentials.ts';
import { CDNSKEY, CDS, CSYNC, DNSKEY, DS, NSEC, NSEC3, NSEC3PARAM, RRSIG, ZONEMD } from './types/dnssec.ts';
import { A, AAAA, EUI48, EUI64, HINFO } from './types/hosts.ts';
import { LOC } from './types/loc.ts';
import { AFSDB, MX, NAPTR, RP, SRV, URI } from './types/services.ts';
import { HTTPS, SVCB } from './types/svcb.ts';
import { SPF, TXT } from './types/texts.ts';
import { CNAME, DNAME, NS, PTR, SOA } from './types/zone.ts';

export const RECORD_TYPES: ReadonlyMap<number, RecordType> = new Map(
  (
    [
      A,
      AAAA,
      AFSDB,
      APL,
      CAA,
      CDNSKEY,
      CDS,
      CERT,
      CNAME,
      CSYNC,
      DHCID,
      DNAME,
      DNSKEY,
      DS,
      EUI48,
      EUI64,
      HINFO,
      HTTPS,
      KEY,
      LOC,
      MX,
      NAPTR,
      NS,
      NSEC,
      NSEC3,
      NSEC3PARAM,
      OPENPGPKEY,
      PTR,
      RP,
      RRSIG,
      SMIMEA,
      SOA,
      SPF,
      SRV,
      SSHFP,
      SVCB,
      TLSA,
      TXT,
      URI,
      ZONEMD,
    ] as readonly RecordType[]
  ).map((type) => [type.code, type]),
);
