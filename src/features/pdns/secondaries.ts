// Changes the secondaries of a domain, which PowerDNS describes by metadata, and finds TSIG keys by name.

import type { RecordsCall } from '../../api/actions/save-records.ts';
import { notFound, Problem, problem } from '../../api/answers/problem.ts';
import { asActor } from '../../api/callers/caller.ts';
import type { AuditAction } from '../../store/audit/audit-actions.ts';
import type { Told } from '../../store/audit/tell-audit.ts';
import { writeAudit } from '../../store/audit/write-audit.ts';
import type { Database } from '../../store/postgres/database.ts';
import { listKeys, loadKey, type TsigKeyRow } from '../../store/transfers/keys.ts';
import { listSecondaries, replaceSecondaries } from '../../store/transfers/peers.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { toldSecondaries } from '../transfers/print.ts';
import { readKeyName, refusedAddress } from '../transfers/rules.ts';
import { PEER_NETWORKS } from '../transfers/services.ts';
import { refuse } from './rules.ts';
import { type SecondaryKind, withValues } from './rules-metadata.ts';

/** Maximum length of the name of a key. */
export const MAX_KEY_CHARACTERS = 255;

/** Finds a key by its name, which is its id in this API. */
export async function findKey(
  db: Database,
  accountId: number,
  text: string,
): Promise<TsigKeyRow | undefined> {
  const name = keyNameOf(text);
  return name === undefined ? undefined : await loadKey(db, accountId, { name });
}

function keyNameOf(text: string): string | undefined {
  return text.length > MAX_KEY_CHARACTERS ? undefined : readKeyName(text);
}

/** Returns the id of each key of the zone's owner, by its name. `kind` is the member or the kind of metadata that lists them. */
export async function keyIdsOf(
  { api, domain: { accountId } }: RecordsCall,
  kind: string,
  names: readonly string[],
): Promise<number[] | Problem> {
  const keys = (await listKeys(api.db, accountId)).filter(({ revokedAt }) => revokedAt === null);
  const known = new Map(keys.map(({ name, id }) => [name, id]));
  const ids: number[] = [];
  for (const text of names) {
    const id = known.get(keyNameOf(text) ?? '');
    if (id === undefined) return refuse(`${kind}: the zone's owner has no TSIG key ${text.slice(0, 100)}`);
    ids.push(id);
  }
  return ids;
}

/** Changes the secondaries so that one kind of metadata has these values. */
export async function saveSecondaries(
  call: RecordsCall,
  kind: SecondaryKind,
  values: readonly string[],
): Promise<Problem | undefined> {
  const { api, domain: zone } = call;
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
  await auditEdit(call, 'secondaries.edit', toldSecondaries(before), toldSecondaries(after));
  return undefined;
}

/** Writes an edit of the zone's settings to the audit log. */
export async function auditEdit(
  { api, caller, domain: { id, name } }: RecordsCall,
  action: AuditAction,
  before: Told,
  after: Told,
): Promise<void> {
  const target = { name: printWithoutDot(name) };
  await writeAudit(api.db, { action, by: asActor(caller), domainId: id, target, before, after });
}
