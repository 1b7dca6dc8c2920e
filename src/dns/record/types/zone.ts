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

export const NS = recordType(TYPE.NS, { nameserver: domainName }, { compression: 'sent' });

export const CNAME = recordType(TYPE.CNAME, { target: domainName }, { compression: 'sent' });

export const DNAME = recordType(TYPE.DNAME, { target: domainName });

export const PTR = recordType(TYPE.PTR, { target: domainName }, { compression: 'sent' });
