// The start of a zone of authority (RFC 1035 §3.3.13). Timers may be written with units, as in `1h30m`.

import { parseTtl } from '../../ttl.ts';
import { TYPE } from '../../type-codes.ts';
import { domainName, u32 } from '../fields.ts';
import { type Field, recordType } from '../record-type.ts';

const seconds: Field<number> = {
  ...u32,
  parse(tokens) {
    const token = tokens.word();
    const value = parseTtl(token.text);
    return value ?? tokens.fail(`"${token.text}" is not a time in seconds or such as 1h30m`, token);
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
