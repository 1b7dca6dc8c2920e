// Signs and unsigns zones. The command itself signs operator zones, large ones in pieces, because a fleet of operator zones may
// have no workers. For a customer's domain it only sets the goal.

import { type Name, printName } from '../../dns/name.ts';
import { DnssecUnavailable } from '../../store/keys/signed-zone.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { DenialKind } from '../../store/postgres/tables/schema.ts';
import { changeDenial } from '../../store/signing/change-denial.ts';
import { addChain, removeChain } from '../../store/signing/denial-chains.ts';
import { disableSigning, unsignInPieces } from '../../store/signing/disable-signing.ts';
import { type EnableOrder, enableSigning } from '../../store/signing/enable-signing.ts';
import { findSubject, listSigning, type ShownSigning } from '../../store/signing/load-signing.ts';
import { signInPieces } from '../../store/signing/sign-pieces.ts';
import type { Subject } from '../../store/signing/write-signing.ts';
import type { Cli } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';
import { type Item, Listing } from '../terminal/output.ts';
import { type Changed, type DomainGoal, setDomainGoal } from './domain-goals.ts';
import { dsTexts } from './show-dnssec.ts';

const NO_KEY_MACHINE = {
  code: 'wrong_state',
  refused: 'this is an operator zone: only keys of domains are changed automatically',
} as const;
const NOT_THERE = { code: 'not_found', refused: 'no such domain or operator zone' } as const;

export async function enableZones(
  db: Database,
  apexes: readonly Name[],
  order: EnableOrder,
  cli: Cli,
): Promise<number> {
  const goal = { kind: 'enable', ...order } as const;
  return await onZones(db, apexes, { cli, goal }, async (subject, apex) => {
    const signal = cli.interruptible();
    const enabled = await cli.audited(db, 'zone.dnssec', async (trx, tell) => {
      const result = await enableSigning(trx, subject, order, cli.changedBy());
      const isNew = result.kind === 'signed' || result.kind === 'signing';
      if (isNew) tell({ target: { name: printName(apex) }, after: { goal: 'signed', ...order } });
      return result;
    });
    if (enabled.kind === 'refused') return { code: enabled.code, refused: enabled.message };
    if (enabled.kind === 'signing') await signInPieces(db, enabled.signed.id, signal);
    return { outcome: enabled.kind === 'unchanged' ? 'unchanged' : 'signed' };
  });
}

const DS_FIRST =
  'validating resolvers would reject the zone while its parent zone has a DS for it. Remove the DS there, wait for its TTL, then pass --now';

export async function disableZones(
  db: Database,
  apexes: readonly Name[],
  now: boolean,
  cli: Cli,
): Promise<number> {
  return await onZones(db, apexes, { cli, goal: { kind: 'disable', now } }, async (subject, apex) => {
    if (!now) return { code: 'ds_first', refused: DS_FIRST };
    const signal = cli.interruptible();
    const outcome = await cli.audited(db, 'zone.dnssec', async (trx, tell) => {
      const disabled = await disableSigning(trx, subject, cli.changedBy());
      if (disabled !== 'unchanged') tell({ target: { name: printName(apex) }, after: { goal: 'unsigned' } });
      return disabled;
    });
    const [zone] = await listSigning(db, [apex]);
    if (outcome === 'unsigning' && zone !== undefined) await unsignInPieces(db, zone.id, signal);
    return { outcome: outcome === 'unchanged' ? 'unchanged' : 'unsigned' };
  });
}

/** Workers write the answers of large domains. */
export async function changeDenials(
  db: Database,
  apexes: readonly Name[],
  denial: DenialKind,
  cli: Cli,
): Promise<number> {
  return await onZones(db, apexes, { cli, goal: { kind: 'denial', denial } }, async (subject, apex) => {
    const signal = cli.interruptible();
    const changed = await cli.audited(db, 'zone.dnssec', async (trx, tell) => {
      const result = await changeDenial(trx, subject, { ...cli.changedBy(), denial });
      const isNew = result.kind === 'updated' && result.changeId !== undefined;
      if (isNew) tell({ target: { name: printName(apex) }, after: { denial } });
      return result;
    });
    if (changed.kind === 'absent') return NOT_THERE;
    if (changed.kind === 'refused') return { code: changed.code, refused: changed.message };
    if (changed.inPieces !== undefined) {
      await addChain(db, changed.inPieces, signal);
      await removeChain(db, changed.inPieces, signal);
    }
    return { outcome: changed.changeId === undefined ? 'unchanged' : denial };
  });
}

/** Goals that only domains have. */
export async function changeDomains(
  db: Database,
  apexes: readonly Name[],
  goal: DomainGoal,
  cli: Cli,
): Promise<number> {
  return await onZones(db, apexes, { cli, goal }, async () => NO_KEY_MACHINE);
}

interface Change {
  readonly cli: Cli;
  /** Applies the goal to a domain. */
  readonly goal: DomainGoal;
}

/** Applies the goal to an operator zone. */
type ZoneWork = (subject: Subject, apex: Name) => Promise<Changed>;

async function onZones(
  db: Database,
  apexes: readonly Name[],
  change: Change,
  work: ZoneWork,
): Promise<number> {
  const { cli } = change;
  const listing = new Listing(cli.output, 'zones');
  let isAllDone = true;
  for (const apex of apexes) {
    const changed = await changeOne(db, apex, change, work);
    isAllDone &&= 'outcome' in changed;
    const [shown] = 'outcome' in changed ? await listSigning(db, [apex]) : [];
    await listing.add(itemOf(apex, changed, shown));
  }
  await listing.end({});
  return isAllDone ? 0 : 1;
}

async function changeOne(db: Database, apex: Name, { cli, goal }: Change, work: ZoneWork): Promise<Changed> {
  const subject = await findSubject(db, apex);
  if (subject === undefined) return NOT_THERE;
  try {
    if ('domainId' in subject) return await setDomainGoal(db, subject.domainId, goal, cli);
    return await work(subject, apex);
  } catch (error) {
    if (error instanceof DnssecUnavailable) throw new Failure('settings', error.message, { cause: error });
    throw error;
  }
}

function itemOf(apex: Name, changed: Changed, shown: ShownSigning | undefined): Item {
  const zone = printName(apex);
  if ('refused' in changed) {
    const { code, refused: message } = changed;
    return { json: { zone, outcome: 'refused', code, message }, problems: [`${zone}: ${message}`] };
  }
  const { outcome, told } = changed;
  if (shown?.kind === 'domain') {
    const lines = [`${outcome} ${zone}`, ...(told === undefined ? [] : [`  ${told}`])];
    return { json: { zone, outcome, ...(told !== undefined && { message: told }) }, lines };
  }
  const ds = shown !== undefined && shown.goal === 'signed' ? dsTexts(shown) : [];
  return {
    json: { zone, outcome, ds },
    lines: [`${outcome} ${zone}`, ...ds.map((text) => `  ${zone} DS ${text}`)],
  };
}
