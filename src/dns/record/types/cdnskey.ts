// The DNSKEY whose DS a child zone asks its parent for (RFC 7344 §3.2). `0 3 0 AA==` asks for none (RFC 8078 §4).

import { TYPE } from '../../type-codes.ts';
import { recordType } from '../record-type.ts';
import { publicKey } from './dnskey.ts';

export const CDNSKEY = recordType(TYPE.CDNSKEY, publicKey, {
  check(key) {
    if (key.algorithm !== 0) return undefined;
    const deletes = key.flags === 0 && key.publicKey.length === 1 && key.publicKey[0] === 0;
    return deletes ? undefined : { field: 'algorithm', message: 'algorithm 0 stands in "0 3 0 AA==" only' };
  },
});
