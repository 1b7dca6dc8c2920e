// The DS that a child zone asks its parent for (RFC 7344 §3.1). `0 0 0 00` asks for none (RFC 8078 §4).

import { TYPE } from '../../type-codes.ts';
import { recordType } from '../record-type.ts';
import { checkDigest, delegationDigest } from './ds.ts';

export const CDS = recordType(TYPE.CDS, delegationDigest, {
  check(cds) {
    if (cds.algorithm !== 0) return checkDigest(cds);
    const deletes =
      cds.keyTag === 0 && cds.digestType === 0 && cds.digest.length === 1 && cds.digest[0] === 0;
    return deletes ? undefined : { field: 'algorithm', message: 'algorithm 0 stands in "0 0 0 00" only' };
  },
});
