// Creates the demo's domains as domains of the first admin. Each is created once, completely or not at all. Existing
// domains are not changed.

import { parseName } from '../../dns/name.ts';
import type { ChangedBy } from '../../store/accounts/actor.ts';
import { ensureFirstAdmin } from '../../store/accounts/first-admin.ts';
import { saveEdit } from '../../store/change/save-edit.ts';
import { saveRevert } from '../../store/change/save-revert.ts';
import { createDomainSigned } from '../../store/dnssec/create-signed-domain.ts';
import { findDomain } from '../../store/domains/load-domains.ts';
import { loadDemoState, saveDemoState } from '../../store/migrate/demo-state.ts';
import type { Database } from '../../store/postgres/database.ts';
import { inTransaction } from '../../store/postgres/transaction.ts';
import { loadRecordsAt } from '../../store/records/load-touched-records.ts';
import { type EditText, parseEdit } from '../../zone/edit/parse-edit.ts';
import { DEMO_DOMAINS } from './demo-domains.ts';
import { OUR_ADDRESSES } from './demo-net.ts';

export const BY: ChangedBy = { by: { kind: 'system', name: 'npm start --demo' }, source: 'demo' };

/** Domain of `npm start`, whose nameservers' addresses do not exist in the demo. */
const SAMPLE = 'zonefleet.example';

/** Returns the names created by this call. */
export async function makeDemoDomains(db: Database): Promise<string[]> {
  const made: string[] = [];
  await once(db, SAMPLE, leadToUs);
  for (const domain of DEMO_DOMAINS)
    if (await once(db, domain.name, (trx) => makeDomain(trx, domain))) made.push(domain.name);
  return made;
}

/** Runs `make` in a transaction that also records its completion. Returns its result, or false if it was completed before. */
async function once(db: Database, what: string, make: (trx: Database) => Promise<boolean>): Promise<boolean> {
  return await inTransaction(db, async (trx) => {
    const { done } = await loadDemoState(trx);
    if (done.includes(what)) return false;
    const isMade = await make(trx);
    await saveDemoState(trx, { done: [...done, what] });
    return isMade;
  });
}

async function makeDomain(trx: Database, domain: (typeof DEMO_DOMAINS)[number]): Promise<boolean> {
  const name = parseName(`${domain.name}.`);
  if ((await findDomain(trx, name)) !== undefined) return false;
  const created = await createDomainSigned(
    trx,
    {
      ...BY,
      accountId: await ensureFirstAdmin(trx),
      name,
      unicode: domain.name,
      dnsMode: domain.isExternal ? 'external' : 'managed',
      exempt: true,
    },
    domain.isSigned ? {} : undefined,
  );
  if (created.kind !== 'created') throw new Error(`${domain.name} cannot be created: ${created.message}`);
  const domainId = created.domain.id;
  let changeId = 0;
  for (const create of domain.edits ?? []) changeId = await edit(trx, domainId, domain.name, { create });
  if (!domain.isReverted) return true;
  const reverted = await saveRevert(trx, { domainId, changeId, by: BY.by });
  if (reverted.kind !== 'saved') throw new Error(`${domain.name}: ${JSON.stringify(reverted)}`);
  return true;
}

/** Gives the zone the same nameserver addresses as the registry's glue. */
async function leadToUs(trx: Database): Promise<boolean> {
  const apex = parseName(`${SAMPLE}.`);
  const domain = await findDomain(trx, apex);
  if (domain === undefined) return false;
  const hosts = OUR_ADDRESSES.map((_, i) => parseName(`ns${i + 1}.${SAMPLE}.`));
  const records = await loadRecordsAt(trx, domain.id, hosts);
  const changes = OUR_ADDRESSES.flatMap((destination, i) =>
    records
      .filter(({ name, type }) => name === hosts[i] && type === 'A')
      .slice(0, 1)
      .map(({ id }) => ({ id, destination })),
  );
  if (changes.length > 0) await edit(trx, domain.id, SAMPLE, { update: changes });
  return true;
}

async function edit(trx: Database, domainId: number, name: string, text: EditText): Promise<number> {
  const parsed = parseEdit(text, parseName(`${name}.`));
  if (parsed.kind === 'problems') throw new Error(`${name} is invalid: ${parsed.problems[0]?.message}`);
  const saved = await saveEdit(trx, { ...BY, domainId, edit: parsed.edit });
  if (saved.kind !== 'saved') throw new Error(`${name} cannot be saved: ${JSON.stringify(saved)}`);
  return saved.changeId;
}
