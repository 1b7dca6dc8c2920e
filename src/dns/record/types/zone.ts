// Types that every zone has, and aliases (RFC 1035 §3.3, RFC 6672).

import { parseTtl } from '../../ttl.ts';
import { TYPE } from '../../type-codes.ts';
import { domainName, u32 } from '../fields.ts';
import { type Field, recordType } from '../record-type.ts';

const seconds: Field<number> = {
  ...u32,
  parse(tokens) {
    const token = tokens.word();
    const value = parseTtl(token.text);
    return value ?? tokens.fail(`"${token.text}" is not a time in seconds or like 1h30m`, token);
  },
};

/** The start of a zone of authority (RFC 1035 §3.3.13). Timers may be written with units, as in `1h30m`. */
export const SOA = recordType(
  TYPE.SOA,
  {
    mname: domainName,
    rname: domainName,
    serial: u32,
    refresh: seconds,
    retry: seconds,
    expire: seconds,
    minimum: seconds,
  },
  { compression: 'sent' },
);

/** A nameserver of a zone (RFC 1035 §3.3.11). */
export const NS = recordType(TYPE.NS, { nameserver: domainName }, { compression: 'sent' });

/** The canonical name of an alias (RFC 1035 §3.3.1). */
export const CNAME = recordType(TYPE.CNAME, { target: domainName }, { compression: 'sent' });

/** The redirection of a whole subtree (RFC 6672 §2.1, which forbids compression). */
export const DNAME = recordType(TYPE.DNAME, { target: domainName });

/** A pointer to another name, usually from an address to its host (RFC 1035 §3.3.12). */
export const PTR = recordType(TYPE.PTR, { target: domainName }, { compression: 'sent' });
