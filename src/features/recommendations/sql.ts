// Loads the facts that recommendations are based on, and stores which recommendations were dismissed.

import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { isWithin, type Name, parentOf, parseName, prependLabel, wildcardBelow } from '../../dns/name.ts';
import type { Database } from '../../store/postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../../store/postgres/name-column.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { Recommendation, ZoneFacts } from './rules.ts';

const MOST_ALIASES = 1000;
/** Maximum number of records that are read per type and name. */
const MOST_TEXTS = 100;
/** MX record of a domain that accepts no mail (RFC 7505 §3). */
const NULL_MX = Buffer.of(0, 0, 0);

export async function loadZoneFacts(db: Database, domainId: number, apex: Name): Promise<ZoneFacts> {
  const [at, dangling] = await Promise.all([
    loadOwners(db, domainId, apex),
    findDangling(db, domainId, apex),
  ]);
  const types = (owner: Name) => at.get(owner)?.types ?? new Set<string>();
  const dmarc = prependLabel('_dmarc', apex);
  const www = prependLabel('www', apex);
  const isWithoutIpv6 = (owner: Name) => types(owner).has('A') && !types(owner).has('AAAA');
  return {
    hasMail: types(apex).has('MX'),
    apexTexts: at.get(apex)?.texts ?? [],
    dmarcTexts: (dmarc && at.get(dmarc)?.texts) ?? [],
    dmarcIsElsewhere: dmarc !== undefined && (types(dmarc).has('CNAME') || types(dmarc).has('NS')),
    hasCaa: types(apex).has('CAA'),
    dangling: dangling.map(printWithoutDot).sort(),
    withoutIpv6: [apex, ...(www ? [www] : [])].filter(isWithoutIpv6).map(printWithoutDot),
  };
}

interface Owner {
  /** Without types of proxied records, because the edges have addresses of both families. */
  readonly types: Set<string>;
  readonly texts: string[];
}

async function loadOwners(db: Database, domainId: number, apex: Name): Promise<Map<Name, Owner>> {
  const owners = [apex, prependLabel('_dmarc', apex), prependLabel('www', apex)].filter(
    (name): name is Name => name !== undefined,
  );
  const { rows } = await sql<{ name: string; type: string; rdata: Buffer[] }>`
    select name, type, (array_agg(rdata))[1:${MOST_TEXTS}::integer] as rdata from records
    where domain_id = ${domainId} and name = any(${owners.map(encodeNameColumn)}::text[]) and not proxied
      and (type <> 'MX' or rdata <> ${NULL_MX})
    group by name, type`.execute(db);
  const found = new Map(owners.map((owner): [Name, Owner] => [owner, { types: new Set(), texts: [] }]));
  for (const { name, type, rdata } of rows) {
    const owner = found.get(decodeNameColumn(name));
    owner?.types.add(type);
    if (type === 'TXT') owner?.texts.push(...rdata.map(joinStrings));
  }
  return found;
}

/** Joins the character-strings of a TXT record (RFC 7208 §3.3). */
function joinStrings(rdata: Buffer): string {
  let text = '';
  for (let at = 0; at < rdata.length; at += 1 + (rdata[at] as number))
    text += rdata.toString('latin1', at + 1, at + 1 + (rdata[at] as number));
  return text;
}

/** Finds aliases to names of the zone that have no records, match no wildcard, and do not lie in a delegated zone. */
async function findDangling(db: Database, domainId: number, apex: Name): Promise<Name[]> {
  const { rows } = await sql<{ name: string; target: string }>`
    select r.name, r.target from (
      select name, rtrim(lower(destination), '.') || '.' as target from records
      where domain_id = ${domainId} and type = 'CNAME' and not proxied) r
    where right(r.target, ${encodeNameColumn(apex).length}::integer) = ${encodeNameColumn(apex)}
      and not exists (select from records t where t.domain_id = ${domainId} and t.name = r.target)
    order by r.name limit ${MOST_ALIASES}`.execute(db);
  const aliases = rows.map(({ name, target }) => ({
    name: decodeNameColumn(name),
    target: parseName(target),
  }));
  const inside = aliases.filter(({ target }) => isWithin(target, apex));
  const above = new Set(inside.flatMap(({ target }) => [...between(target, apex)]));
  const wanted = [...above]
    .flatMap((name) => [name, wildcardBelow(name)])
    .filter((name) => name !== undefined);
  const { rows: known } = await sql<{ name: string; isDelegated: boolean }>`
    select name, bool_or(type = 'NS') as "isDelegated" from records
    where domain_id = ${domainId} and name = any(${wanted.map(encodeNameColumn)}::text[])
    group by name`.execute(db);
  const isDelegated = new Map(known.map((row) => [decodeNameColumn(row.name), row.isDelegated]));
  const isAnswered = (target: Name) =>
    [...between(target, apex)].some(
      (name) =>
        (name !== apex && isDelegated.get(name) === true) || isDelegated.has(wildcardBelow(name) ?? name),
    );
  return inside.filter(({ target }) => !isAnswered(target)).map(({ name }) => name);
}

/** Yields the names above `target`, up to the apex. */
function* between(target: Name, apex: Name): Generator<Name> {
  for (let name = target; name !== apex; ) {
    name = parentOf(name);
    yield name;
  }
}

/** Maximum number of names that are checked. */
const MOST_NAMES = 1000;

/** Returns sorted names without the final dot. */
export async function loadProxiedNames(db: Database, domainId: number): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct name from records where domain_id = ${domainId} and proxied
    order by name limit ${MOST_NAMES}`.execute(db);
  return rows.map(({ name }) => printWithoutDot(decodeNameColumn(name)));
}

type Dismissed = Pick<Recommendation, 'code' | 'subject'>;

/** Returns the recommendations that were not dismissed, or whose subject has changed since. */
export async function withoutDismissed(
  db: Database,
  domainId: number,
  found: readonly Recommendation[],
): Promise<Recommendation[]> {
  if (found.length === 0) return [];
  const { rows } = await sql<{ code: string; subject: Buffer }>`
    select code, subject from dismissed_recommendations where domain_id = ${domainId}`.execute(db);
  const dismissed = new Map(rows.map(({ code, subject }) => [code, subject]));
  return found.filter((one) => dismissed.get(one.code)?.equals(digestOf(one)) !== true);
}

/** Stores one row per code, so that the table stays small. */
export async function dismissRecommendation(db: Database, domainId: number, one: Dismissed): Promise<void> {
  await sql`
    insert into dismissed_recommendations (domain_id, code, subject)
    values (${domainId}, ${one.code}, ${digestOf(one)})
    on conflict (domain_id, code) do update set subject = excluded.subject, at = now()`.execute(db);
}

function digestOf({ subject }: Dismissed): Buffer {
  return createHash('sha256').update(subject).digest();
}
