// Replaces records of the type SPF, which mail servers no longer query (RFC 7208 §3.1).

import type { Name } from '../../dns/name.ts';
import { TYPE, typeMnemonic } from '../../dns/type-codes.ts';
import type { LeftOutRecord, ZoneFileRecord } from '../../dns/zone-file/zone-file.ts';
import { isSpfPolicy } from '../records/spf-policy.ts';
import type { ZoneWarning } from '../warnings/zone-warning.ts';

const HAS_POLICY =
  'the name has a TXT record with an SPF policy, which mail servers use instead (RFC 7208 §3.1)';
const REPLACED = 'mail servers no longer read SPF records (RFC 7208 §3.1): this one becomes a TXT record';

interface Replaced {
  readonly records: ZoneFileRecord[];
  readonly leftOut: readonly LeftOutRecord[];
  readonly warnings: readonly ZoneWarning[];
}

/** Converts each SPF record to a TXT record, unless its name has a TXT record with a policy. */
export function replaceSpf(all: ZoneFileRecord[]): Replaced {
  const records: ZoneFileRecord[] = [];
  const leftOut: LeftOutRecord[] = [];
  const warnings: ZoneWarning[] = [];
  const withPolicy = new Set<Name>();
  for (const { owner, type, rdata } of all)
    if (type === TYPE.TXT && isSpfPolicy(rdata)) withPolicy.add(owner);
  const lines = new Map<string, number>();
  for (const record of all) {
    if (record.type !== TYPE.SPF) {
      records.push(record);
      continue;
    }
    const { owner, rdata, file, line, column } = record;
    const key = owner + Buffer.from(rdata).toString('latin1');
    const first = lines.get(key);
    if (withPolicy.has(owner) || first !== undefined) {
      const reason = withPolicy.has(owner) ? HAS_POLICY : `the same record is in line ${first}`;
      leftOut.push({ owner, type: typeMnemonic(TYPE.SPF), reason, file, line, column });
      continue;
    }
    lines.set(key, line);
    records.push({ ...record, type: TYPE.TXT });
    warnings.push({ code: 'TYPE_REPLACED', owner, type: 'TXT', message: REPLACED, line, column });
  }
  return { records, leftOut, warnings };
}
