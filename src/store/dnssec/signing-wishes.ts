// How a signed domain is to be signed: as its owner says, as it was, or as every other; and what is stored of that.

import { sql } from 'kysely';
import { needsKeys } from '../../checks/dnssec/goals.ts';
import { type Machine, wantedIds } from '../../checks/dnssec/machine.ts';
import { SIGNING_ALGORITHM, type SigningAlgorithm } from '../../zone/signing/signing-key.ts';
import type { Database } from '../postgres/database.ts';
import type { DenialKind } from '../postgres/tables/schema.ts';
import type { StoredDnssec } from './load-dnssec.ts';

/** How a zone is signed; what is left out stays as it was, or is the default. */
export interface SigningWishes {
  readonly denial?: DenialKind | undefined;
  readonly algorithm?: SigningAlgorithm | undefined;
  /** A key that signs keys, and one that signs all else. */
  readonly split?: boolean | undefined;
}

export function wishesOf({ denial, algorithm, split }: SigningWishes, stored: StoredDnssec | undefined) {
  const before = stored?.signed;
  return {
    denial: denial ?? before?.denial ?? 'nsec',
    algorithm: algorithm ?? (before?.algorithm as SigningAlgorithm) ?? SIGNING_ALGORITHM.ECDSAP256SHA256,
    split: split ?? before?.split ?? false,
  };
}

/** Its keys of before are taken again, whose DS the parent may still show, unless they are destroyed or not as wished. */
export function needsOthers(
  machine: Machine,
  { signed, keys }: StoredDnssec,
  { algorithm, split }: Omit<ReturnType<typeof wishesOf>, 'denial'>,
): boolean {
  if (needsKeys(machine) || algorithm !== signed.algorithm || split !== signed.split) return true;
  return wantedIds(machine).some((id) => !keys.some((key) => String(key.id) === id && key.isUsable));
}

export async function saveWishes(
  trx: Database,
  domainId: number,
  { denial, algorithm, split }: ReturnType<typeof wishesOf>,
): Promise<{ id: number }> {
  const { rows } = await sql<{ id: number }>`
    insert into signed_zones as s (domain_id, account_id, goal, denial, algorithm, split, phase)
    values (${domainId}, (select account_id from domains where id = ${domainId}), 'signed', ${denial}, ${algorithm}, ${split}, 'off')
    on conflict (domain_id) do update set algorithm = excluded.algorithm, split = excluded.split,
      denial = case when s.phase = 'off' then excluded.denial else s.denial end
    returning id`.execute(trx);
  return rows[0] as { id: number };
}

/** As the wanted keys have it: giving up a change goes back to what was before. */
export function waysOf({ wanted, keys }: Machine): { algorithm: number | null; split: boolean | null } {
  const key = keys.find(({ id }) => id === wanted?.sep);
  return { algorithm: key?.algorithm ?? null, split: wanted && wanted.sep !== wanted.data };
}
