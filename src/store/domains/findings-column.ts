// A domain's findings as SQL changes them.

import { type RawBuilder, sql } from 'kysely';
import type { Finding, FindingCode } from '../../checks/delegation/findings.ts';

/** The column `findings` without findings of these codes. */
export function findingsWithout(...codes: FindingCode[]): RawBuilder<string> {
  return sql`(select coalesce(jsonb_agg(f.value order by f.ordinality), '[]')
    from jsonb_array_elements(findings) with ordinality f where f.value ->> 'code' <> all(${codes}::text[]))`;
}

/** The column `findings` with this one at the end; older ones of its code, and of `others`, are removed. */
export function findingsWith(finding: Finding, ...others: FindingCode[]): RawBuilder<string> {
  return sql`${findingsWithout(finding.code, ...others)} || jsonb_build_array(${JSON.stringify(finding)}::jsonb)`;
}
