// Determines which nameserver sets prove a new claim (docs/rules.md "Sets and rights"). With a pool it is the account's
// own set. With static sets it is any of them, if no other account ever had the name.

import { type RawBuilder, sql } from 'kysely';
import {
  choosePoolSets,
  chooseStaticSets,
  isNewToName,
  type NamePast,
  type SetRight,
} from '../../checks/claims/choose-sets.ts';
import type { ClaimSet } from '../../checks/claims/name-claims.ts';
import { type NameHolder, wasHeldByOthers, wasHolder } from '../../checks/claims/name-holders.ts';
import { areTooMany, type Sighting } from '../../checks/claims/sightings.ts';
import type { Name } from '../../dns/name.ts';
import { nameserversOf } from '../domains/nameserver-sets.ts';
import { allOurNameservers, type PublishSettings } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import type { StoredSet } from '../postgres/tables/schema.ts';
import {
  holdersOf,
  loadRights,
  loadSightings,
  type Right,
  rightsTo,
  saveRight,
  sightingsOf,
  sortedNames,
} from './name-rights.ts';
import {
  type AccountSet,
  type AccountSetJson,
  accountNameserverSet,
  accountSetOf,
  decodeAccountSet,
  giveSubstitute,
  isComplete,
} from './pool-sets.ts';

interface NewClaim {
  readonly nameText: string;
  readonly accountId: number;
  /** True for an operator's claims, which do not use up sets. */
  readonly byOperator: boolean;
  readonly settings: PublishSettings;
}

/**
 * Returns the sets, the account's own first, and saves the rights to them. Null means every static set; an empty list
 * means that none is left. Call it under `lockNamesAround`.
 */
export async function setsForClaim(
  trx: Database,
  claim: NewClaim,
  loaded?: ClaimPast,
): Promise<StoredSet[] | null> {
  const { nameText, accountId, settings } = claim;
  const present = loaded ?? (await loadPast(trx, claim));
  const { othersClaim } = present;
  if (othersClaim) await settleOtherClaims(trx, claim);
  const past = othersClaim
    ? { ...pastOf(claim, await loadPast(trx, claim)), isContested: true }
    : pastOf(claim, present);
  const chosen =
    settings.pool === undefined
      ? chooseStaticSets(accountId, settings.nameserverSets, past)
      : await poolSets(trx, claim, past, decodeAccountSet(present.ownSet));
  if (chosen === 'every') return null;
  const sets = chosen.map(storedSet);
  for (const { names, exclusive } of sets) await saveRight(trx, nameText, { names, accountId, exclusive });
  return sets;
}

/** Data about a name on which `setsForClaim` decides. */
export interface ClaimPast {
  readonly othersClaim: boolean;
  readonly sightings: readonly Sighting[];
  readonly holders: readonly NameHolder[];
  readonly rights: readonly Right[];
  readonly ownSet: AccountSetJson | null;
  /** The time of the database. */
  readonly nowMs: number;
}

/** Selects `ClaimPast` without `nowMs`. Call it under `lockNamesAround`. */
export function pastColumns(name: RawBuilder<unknown>, accountId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`exists (select from domains d where d.name = ${name} and d.account_id <> ${accountId}
      and ${WAITS_OR_HOLDS}) as "othersClaim",
    ${sightingsOf(name)} as sightings, ${holdersOf(name)} as holders, ${rightsTo(name)} as rights,
    ${accountSetOf(accountId)} as "ownSet"`;
}

async function loadPast(trx: Database, { nameText, accountId }: NewClaim): Promise<ClaimPast> {
  const { rows } = await sql<ClaimPast>`
    select ${pastColumns(sql`${nameText}`, sql`${accountId}`)}, (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`.execute(
    trx,
  );
  return rows[0] as ClaimPast;
}

function pastOf(claim: NewClaim, { sightings, holders, rights, nowMs }: ClaimPast): NamePast {
  const { accountId, byOperator } = claim;
  return {
    rights: rights.map(setRight),
    mayBeSeen: byOperator || (wasHolder(holders, accountId, nowMs) && !areTooMany(sightings)),
    isContested: wasHeldByOthers(holders, accountId, nowMs),
    shown: shownIn(sightings, claim),
  };
}

function shownIn(
  sightings: readonly Sighting[],
  { settings }: Pick<NewClaim, 'settings'>,
): ReadonlySet<Name> {
  return new Set(
    areTooMany(sightings)
      ? allOurNameservers(settings)
      : sightings.flatMap(({ names }) => names.map(decodeNameColumn)),
  );
}

function setRight(right: Right): SetRight {
  return { ...right, names: right.names.map(decodeNameColumn) };
}

async function poolSets(
  trx: Database,
  { accountId, settings }: NewClaim,
  past: NamePast,
  known: AccountSet | undefined,
): Promise<readonly ClaimSet[]> {
  const own = isComplete(known, settings) ? known : await accountNameserverSet(trx, accountId);
  if (own === undefined) return [];
  const choice = choosePoolSets(accountId, own, past);
  if (choice.kind === 'sets') return choice.sets;
  const substitute = await substituteFor(trx, choice.isUsable);
  return [...(substitute === undefined ? [] : [substitute]), ...choice.besides];
}

/** For this name a substitute counts as exclusive: it belongs to no account and is new to the name. */
async function substituteFor(
  trx: Database,
  isUsable: (set: readonly Name[]) => boolean,
): Promise<ClaimSet | undefined> {
  const given = await giveSubstitute(trx, isUsable);
  return given && { names: given.names, exclusive: given.kind === 'substitute' };
}

/**
 * Returns a set for a claim whose sets are all used up, and saves the right to it. Returns undefined if none is left.
 * `alsoShown` are names that a check has just seen.
 */
export async function replaceSpentSets(
  trx: Database,
  claim: Omit<NewClaim, 'byOperator'>,
  alsoShown: readonly Name[],
): Promise<StoredSet | undefined> {
  const { nameText, accountId, settings } = claim;
  const rights = (await loadRights(trx, nameText)).map(setRight);
  const shown = new Set([...alsoShown, ...shownIn(await loadSightings(trx, nameText), claim)]);
  const isFree = (names: readonly Name[]) => isNewToName(names, accountId, { rights, shown });
  const free = settings.nameserverSets.find(isFree);
  const set =
    settings.pool === undefined
      ? free && { names: free, exclusive: false }
      : await substituteFor(trx, isFree);
  if (set === undefined) return undefined;
  const stored = storedSet(set);
  await saveRight(trx, nameText, { ...stored, accountId });
  return stored;
}

/**
 * Returns the sets of a domain that is transferred to the account. The account's own set is added if it is exclusive,
 * so that the new owner can enter it at the registrar. Call it under `lockNamesAround`.
 */
export async function addOwnSet(
  trx: Database,
  { name: nameText, nsSets }: { readonly name: string; readonly nsSets: readonly StoredSet[] | null },
  accountId: number,
): Promise<readonly StoredSet[] | null> {
  // Adding a set would change the apex of a domain that has none.
  if (nsSets === null || nsSets.length === 0) return nsSets;
  const own = await accountNameserverSet(trx, accountId);
  if (own?.exclusive !== true) return nsSets;
  const set = storedSet(own);
  const key = sortedNames(set.names).join();
  if (nsSets.some(({ names }) => sortedNames(names).join() === key)) return nsSets;
  await saveRight(trx, nameText, { ...set, accountId });
  const right = (await loadRights(trx, nameText)).find(({ names }) => names.join() === key);
  return right?.accountId === accountId ? [...nsSets, set] : nsSets;
}

function storedSet({ names, exclusive }: ClaimSet): StoredSet {
  return { names: names.map(encodeNameColumn), exclusive };
}

const WAITS_OR_HOLDS = sql`d.deleted_at is null and d.status in ('pending', 'unverified', 'active', 'moved')`;

/**
 * A domain that any static set proved keeps the set at its apex, because its owner was given that one. A domain that
 * has only some static sets left since its first check gets the right to those.
 */
async function settleOtherClaims(trx: Database, { nameText, accountId, settings }: NewClaim): Promise<void> {
  const { rows } = await sql<{
    id: number;
    accountId: number;
    nsSets: readonly StoredSet[] | null;
    delegatedNs: string[] | null;
    chosenNs: string[] | null;
  }>`
    select d.id, d.account_id as "accountId", d.ns_sets as "nsSets", d.delegated_ns as "delegatedNs",
      d.chosen_ns as "chosenNs"
    from domains d where d.name = ${nameText} and d.account_id <> ${accountId}
      and (d.dns_mode = 'managed' or d.leaving) and ${WAITS_OR_HOLDS} order by d.id for update`.execute(trx);
  for (const { id, nsSets, ...row } of rows) {
    const own = {
      names: nameserversOf({ ...row, nsSets }, settings).map(encodeNameColumn),
      exclusive: false,
    };
    for (const set of nsSets ?? [own]) await saveRight(trx, nameText, { ...set, accountId: row.accountId });
    if (nsSets !== null) continue;
    await sql`update domains set ns_sets = ${JSON.stringify([own])}::jsonb where id = ${id}`.execute(trx);
    await sql`update domain_checks set seq = seq + 1 where domain_id = ${id}`.execute(trx);
  }
}
