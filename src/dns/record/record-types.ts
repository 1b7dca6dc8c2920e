// Every record type that has a text form of its own, by code.

import type { RecordType } from './record-type.ts';
import { A } from './types/a.ts';
import { AAAA } from './types/aaaa.ts';
import { AFSDB } from './types/afsdb.ts';
import { APL } from './types/apl.ts';
import { CAA } from './types/caa.ts';
import { CDNSKEY } from './types/cdnskey.ts';
import { CDS } from './types/cds.ts';
import { CERT } from './types/cert.ts';
import { CNAME } from './types/cname.ts';
import { CSYNC } from './types/csync.ts';
import { DHCID } from './types/dhcid.ts';
import { DNAME } from './types/dname.ts';
import { DNSKEY } from './types/dnskey.ts';
import { DS } from './types/ds.ts';
import { EUI48 } from './types/eui48.ts';
import { EUI64 } from './types/eui64.ts';
import { HINFO } from './types/hinfo.ts';
import { HTTPS } from './types/https.ts';
import { KEY } from './types/key.ts';
import { LOC } from './types/loc.ts';
import { MX } from './types/mx.ts';
import { NAPTR } from './types/naptr.ts';
import { NS } from './types/ns.ts';
import { NSEC } from './types/nsec.ts';
import { NSEC3 } from './types/nsec3.ts';
import { NSEC3PARAM } from './types/nsec3param.ts';
import { OPENPGPKEY } from './types/openpgpkey.ts';
import { PTR } from './types/ptr.ts';
import { RP } from './types/rp.ts';
import { RRSIG } from './types/rrsig.ts';
import { SMIMEA } from './types/smimea.ts';
import { SOA } from './types/soa.ts';
import { SPF } from './types/spf.ts';
import { SRV } from './types/srv.ts';
import { SSHFP } from './types/sshfp.ts';
import { SVCB } from './types/svcb.ts';
import { TLSA } from './types/tlsa.ts';
import { TXT } from './types/txt.ts';
import { URI } from './types/uri.ts';
import { ZONEMD } from './types/zonemd.ts';

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
