// The problems of the targets of a domain's ANAME records. They are read with the domain, from the targets themselves,
// so that a failing target needs no write to the thousand domains that point there.

import { type RawBuilder, sql } from 'kysely';
import {
  type AnameFinding,
  type AnameFindingCode,
  anameFindings,
} from '../../checks/aname/aname-findings.ts';
import { decodeTarget, IS_FLATTENED, TARGET_OF_RECORD } from './aname-targets.ts';

export interface TroubleRow {
  readonly target: string;
  readonly code: AnameFindingCode;
}

/** The most problems that are read: a sentence names only a few of them. */
const MAX_TROUBLES = 100;

/** Whether a family has addresses that its zone has not called gone. */
const STAYS = (family: 'v4' | 'v6') =>
  sql`(cardinality(t.${sql.ref(`${family}_addresses`)}) > 0 and t.${sql.ref(`${family}_gone_at`)} is null)`;

const CODE = sql`case t.failure when 'loop' then 'ANAME_LOOP' else
  case when t.failure is not null then 'ANAME_TARGET_FAILS' else 'ANAME_TARGET_EMPTY' end end`;

/** Records `r` whose target `t` is in trouble. */
const TROUBLED = sql`records r join aname_targets t on t.target = ${TARGET_OF_RECORD}
  where ${IS_FLATTENED} and t.checked_at is not null
    and (t.failure is not null or (${STAYS('v4')} or ${STAYS('v6')}) is not true)`;

/** The problems of the domain `d`, as JSON; null when there are none. */
export const ANAME_TROUBLES = sql<readonly TroubleRow[] | null>`(
  select json_agg(json_build_object('target', w.target, 'code', w.code) order by w.target) from (
    select distinct t.target, ${CODE} as code from ${TROUBLED} and r.domain_id = d.id and d.served <> 'none'
    limit ${MAX_TROUBLES}) w)`;

/** The ids of the domains with a record of this problem, whether or not they are served. */
export function idsWithTrouble(code: AnameFindingCode): RawBuilder<unknown> {
  return sql`select r.domain_id from ${TROUBLED} and ${CODE} = ${code}`;
}

export function findingsOf(troubles: readonly TroubleRow[] | null): AnameFinding[] {
  return anameFindings((troubles ?? []).map(({ target, code }) => ({ target: decodeTarget(target), code })));
}
