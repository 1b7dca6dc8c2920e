// Records that are deleted are taken from the rules that were for them. A rule whose last record went is disabled, since it would
// be for the whole domain otherwise.

import type { Database } from '../postgres/database.ts';
import { loadRulesOfRecords } from './load-rules.ts';
import { updated, type WrittenRule } from './rule-operations.ts';

const LAST_RECORD_GONE =
  'the last record that it was for was deleted; enabled again, it would be for the whole domain';

/** Under the lock of the domain. */
export async function rulesWithout(
  trx: Database,
  domainId: number,
  recordIds: readonly number[],
): Promise<WrittenRule[]> {
  if (recordIds.length === 0) return [];
  const gone = new Set(recordIds);
  const rules = await loadRulesOfRecords(trx, domainId, recordIds);
  return rules.flatMap((rule) => {
    const left = rule.body.record_ids.filter((id) => !gone.has(id));
    const isLast = left.length === 0;
    const body = { ...rule.body, record_ids: left, enabled: rule.body.enabled && !isLast };
    const disabledReason = isLast && rule.body.enabled ? LAST_RECORD_GONE : rule.disabledReason;
    const written = updated(rule, { ...rule, body, disabledReason });
    return written === undefined ? [] : [written];
  });
}
