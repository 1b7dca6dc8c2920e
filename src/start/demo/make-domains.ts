// Makes the domains of the demo as domains of the first admin. Each is made once, whole or not at all; one whose name is there
// already is left as it is.

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

/** Of `npm start`, with addresses of nameservers that lead nowhere. */
const SAMPLE = 'zonefleet.example';

/** Gives the names that were made now. */
export async function makeDemoDomains(db: Database): Promise<string[]> {
  const made: string[] = [];
  await once(db, SAMPLE, leadToUs);
  for (const domain of DEMO_DOMAINS)
    if (await once(db, domain.name, (trx) => makeDomain(trx, domain))) made.push(domain.name);
  return made;
}

/** `make` in one transaction with the note that it is done; what it gives, or false when it was done before. */
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
  if (created.kind !== 'created') throw new Error(`${domain.name} is not made: ${created.message}`);
  const domainId = created.domain.id;
  let changeId = 0;
  for (const create of domain.edits ?? []) changeId = await edit(trx, domainId, domain.name, { create });
  if (!domain.isReverted) return true;
  const reverted = await saveRevert(trx, { domainId, changeId, by: BY.by });
  if (reverted.kind !== 'saved') throw new Error(`${domain.name}: ${JSON.stringify(reverted)}`);
  return true;
}

/** The registry's glue and the zone say the same then. */
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
  if (parsed.kind === 'problems') throw new Error(`${name} is wrong: ${parsed.problems[0]?.message}`);
  const saved = await saveEdit(trx, { ...BY, domainId, edit: parsed.edit });
  if (saved.kind !== 'saved') throw new Error(`${name} is not saved: ${JSON.stringify(saved)}`);
  return saved.changeId;
}
