// Narrows lists of domains to a part of the name and to a finding. An index finds rare matches; frequent ones appear
// soon when the list is read in order. Both are limited.

import { type RawBuilder, sql } from 'kysely';
import { ANAME_FINDING_CODES, type AnameFindingCode } from '../../checks/aname/aname-findings.ts';
import { CHILD_CODE_LIST, CHILD_CODES, type ChildCode } from '../../checks/child/child-codes.ts';
import { FINDING_CODES } from '../../checks/delegation/finding.ts';
import { contains } from '../postgres/list-page.ts';
import { idsWithProblem } from '../records/aname-targets.ts';
import { CHILD_COUNTS, IS_TXT_CONTESTED, TXT_COUNTS } from './domain-row.ts';

const REGISTRAR_CODES = CHILD_CODE_LIST.filter((code) => CHILD_CODES[code].place === 'registrar');

/** Codes to filter by: neither NS_TURN, which depends on the minute, nor APEX_ONLY, which most pending domains have. */
export const SOUGHT_FINDINGS = [
  ...FINDING_CODES.filter((code) => code !== 'NS_TURN' && code !== 'APEX_ONLY'),
  ...REGISTRAR_CODES,
  ...ANAME_FINDING_CODES,
] as const;
type SoughtFinding = (typeof SOUGHT_FINDINGS)[number];

export interface Narrowing {
  /** Text in the name or its Unicode form. */
  readonly search?: string;
  readonly finding?: SoughtFinding;
}

/** Returns false if the list needs only its order. */
export function isNarrowed({ search = '', finding }: Narrowing): boolean {
  return search !== '' || finding !== undefined;
}

/** Conditions for a domain `d`. */
export function narrowingConditions({ search = '', finding }: Narrowing): RawBuilder<unknown>[] {
  const text = search.toLowerCase();
  return [
    ...(text === '' ? [] : [sql`(${contains(sql`d.name`, text)} or ${contains(sql`d.unicode`, text)})`]),
    ...(finding === undefined ? [] : [shows(finding)]),
  ];
}

/** Conditions that an index supports and every matching domain `d` meets. `accountId` restricts them to one account. */
export function indexConditions(
  { search = '', finding }: Narrowing,
  accountId: number | undefined,
): RawBuilder<unknown>[] {
  const parts = partsOf(search.toLowerCase());
  const all = [...parts, ...(accountId === undefined ? [] : [`#${accountId}`])];
  const named = sql`domain_parts(d.account_id, d.name, d.unicode) @> ${all}::text[]`;
  return [
    ...(parts.length === 0 ? [] : [named]),
    ...(finding === undefined ? [] : [mayShow(finding, accountId)]),
  ];
}

const PART_LENGTH = 3;

/** Splits the text into parts of at most three characters, which every text that contains it has. */
function partsOf(text: string): string[] {
  const letters = Array.from(text);
  if (letters.length === 0) return [];
  const last = Math.max(0, letters.length - PART_LENGTH);
  const starts = letters.slice(0, last + 1).flatMap((_, at) => (at % PART_LENGTH === 0 ? [at] : []));
  return [...new Set([...starts, last])].map((at) => letters.slice(at, at + PART_LENGTH).join(''));
}

/** SQL condition: `decodeDomain` gives the domain `d` this finding. */
function shows(code: SoughtFinding): RawBuilder<unknown> {
  if (isAname(code))
    return sql`(d.served <> 'none' and d.id in (${idsWithProblem(code)} and r.domain_id = d.id))`;
  if (isRegistrars(code)) {
    return sql`exists (select from child_checks k join domain_checks c on c.domain_id = k.domain_id
      where k.findings @> ${registrars(code)} and ${CHILD_COUNTS})`;
  }
  if (code === 'PREPARE') {
    return sql`(d.dns_mode = 'managed' and d.status = 'pending' and exists (
      select from domain_verifications v where v.domain_id = d.id and v.offered and ${TXT_COUNTS} is not true))`;
  }
  const isStored = sql`d.findings @> ${JSON.stringify([{ code }])}::jsonb`;
  return code === 'TAKEOVER_SEEN' ? sql`(${isStored} or ${IS_TXT_CONTESTED})` : isStored;
}

function mayShow(code: SoughtFinding, accountId: number | undefined): RawBuilder<unknown> {
  if (isAname(code)) return sql`d.id in (${idsWithProblem(code)})`;
  if (isRegistrars(code)) {
    return sql`d.id in (select k.domain_id from child_checks k where k.findings <> '[]' and k.findings @> ${registrars(code)})`;
  }
  if (code === 'PREPARE')
    return sql`d.id in (select v.domain_id from domain_verifications v where v.offered)`;
  if (code === 'TAKEOVER_SEEN') {
    return sql`d.id in (select s.id from domains s where ${isMarked('s', [markOf(code, accountId)])} union all
      select s.id from domains o join domains s on s.name = o.name where ${isMarked('o', ['TAKEOVER_WAITS'])})`;
  }
  return isMarked('d', [markOf(code, accountId)]);
}

function isMarked(table: string, marks: readonly string[]): RawBuilder<unknown> {
  const row = (column: string) => sql.ref(`${table}.${column}`);
  return sql`(${row('deleted_at')} is null and ${row('findings')} <> '[]'
    and finding_marks(${row('account_id')}, ${row('findings')}) @> ${marks}::text[])`;
}

function markOf(code: SoughtFinding, accountId: number | undefined): string {
  return accountId === undefined ? code : `${accountId} ${code}`;
}

function registrars(code: ChildCode): RawBuilder<unknown> {
  return sql`${JSON.stringify([{ code, place: 'registrar' }])}::jsonb`;
}

function isAname(code: SoughtFinding): code is AnameFindingCode {
  return (ANAME_FINDING_CODES as readonly string[]).includes(code);
}

function isRegistrars(code: SoughtFinding): code is ChildCode {
  return (REGISTRAR_CODES as readonly string[]).includes(code);
}
