// Changes the secondaries of a domain, which PowerDNS describes by metadata, and finds keys by the names that its clients use.

import type { RecordsCall } from '../../api/actions/save-records.ts';
import { notFound, Problem, problem } from '../../api/answers/problem.ts';
import { asActor } from '../../api/callers/caller.ts';
import { writeAudit } from '../../store/audit/write-audit.ts';
import { loadKey } from '../../store/transfers/keys.ts';
import { listSecondaries, replaceSecondaries } from '../../store/transfers/peers.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { toldSecondaries } from '../transfers/print.ts';
import { readKeyName, refusedAddress } from '../transfers/rules.ts';
import { PEER_NETWORKS } from '../transfers/services.ts';
import { refuse } from './rules.ts';
import { type SecondaryKind, withValues } from './rules-metadata.ts';

const MOST_CHARACTERS = 255;

/** Finds a key by the id that PowerDNS clients use, which is its name. */
export async function findKeyId(
  db: RecordsCall['api']['db'],
  accountId: number,
  text: string,
): Promise<number | undefined> {
  const name = text.length > MOST_CHARACTERS ? undefined : readKeyName(text);
  return name === undefined ? undefined : (await loadKey(db, accountId, { name }))?.id;
}

/** Finds the keys with these names, of the zone's owner. `kind` is the member or the kind of metadata that lists them. */
export async function keyIdsOf(
  { api, domain: { accountId } }: RecordsCall,
  kind: string,
  names: readonly string[],
): Promise<number[] | Problem> {
  const ids: number[] = [];
  for (const name of names) {
    const id = await findKeyId(api.db, accountId, name);
    if (id === undefined) return refuse(`${kind}: the zone's owner has no TSIG key ${name.slice(0, 100)}`);
    ids.push(id);
  }
  return ids;
}

/** Replaces what one kind of metadata describes of the secondaries. */
export async function saveSecondaries(
  call: RecordsCall,
  kind: SecondaryKind,
  values: readonly string[],
): Promise<Problem | undefined> {
  const { api, caller, domain: zone } = call;
  const keyIds = kind === 'TSIG-ALLOW-AXFR' ? await keyIdsOf(call, kind, values) : [];
  if (keyIds instanceof Problem) return keyIds;
  const before = await listSecondaries(api.db, zone.id);
  const wanted = withValues(before, kind, values, keyIds);
  if (wanted instanceof Problem) return wanted;
  const addresses = wanted.flatMap((secondary) => secondary.addresses);
  const refused = refusedAddress(addresses, api.services.get(PEER_NETWORKS) ?? []);
  if (refused !== undefined) return problem('address_refused', `${refused} is not a public address`);
  const replaced = await replaceSecondaries(api.db, zone, wanted);
  if (replaced.kind === 'absent') return notFound('domain');
  if (replaced.kind === 'unknown_key')
    return refuse(`${kind}: expected a key that was created here, not imported`);
  const after = await listSecondaries(api.db, zone.id);
  await writeAudit(api.db, {
    action: 'secondaries.edit',
    by: asActor(caller),
    domainId: zone.id,
    target: { name: printWithoutDot(zone.name) },
    before: toldSecondaries(before),
    after: toldSecondaries(after),
  });
  return undefined;
}
