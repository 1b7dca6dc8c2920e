// `dnssec import-key`: signs a zone with existing keys that were created elsewhere.

import { type Name, printName } from '../../dns/name.ts';
import { importPrivateKeys } from '../../store/dnssec/private-keys.ts';
import { DnssecUnavailable } from '../../store/keys/signed-zone.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { DenialKind } from '../../store/postgres/tables/schema.ts';
import { enableSigning } from '../../store/signing/enable-signing.ts';
import { findSubject, listSigning } from '../../store/signing/load-signing.ts';
import { signInPieces } from '../../store/signing/sign-pieces.ts';
import type { Subject } from '../../store/signing/write-signing.ts';
import { type ImportedKey, readPrivateKeys } from '../../zone/signing/private-key.ts';
import type { Cli } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';
import type { Output } from '../terminal/output.ts';
import { readKeyFiles } from './read-key-files.ts';
import { dsTexts } from './show-dnssec.ts';

export interface ImportOptions {
  readonly flags?: readonly number[];
  readonly algorithm?: number;
  readonly denial: DenialKind;
  readonly replace?: boolean;
}

export interface Refused {
  readonly code: string;
  readonly refused: string;
}

export const NOT_THERE: Refused = { code: 'not_found', refused: 'no such domain or operator zone' };

export async function importKeys(
  db: Database,
  name: Name,
  files: readonly string[],
  { flags = [], algorithm, denial, replace }: ImportOptions,
  cli: Cli,
): Promise<number> {
  const read = readPrivateKeys(await readKeyFiles(files, name, { flags, algorithm }));
  if (read.kind === 'refused')
    return await refuse(
      name,
      { code: 'validation_failed', refused: `key ${read.index + 1}: ${read.message}` },
      cli.output,
    );
  const subject = await findSubject(db, name);
  if (subject === undefined) return await refuse(name, NOT_THERE, cli.output);
  const { keys } = read;
  const refused = await orSettings(() =>
    'domainId' in subject
      ? importOfDomain(db, { domainId: subject.domainId, keys, denial, replace }, cli)
      : importOfZone(db, subject, name, keys, denial, cli),
  );
  if (refused !== undefined) return await refuse(name, refused, cli.output);
  const [zone] = await listSigning(db, [name]);
  const ds = zone?.kind === 'operator' ? dsTexts(zone) : [];
  const zoneName = printName(name);
  if (cli.output.json) {
    const imported = keys.map(({ tag, flags: own, algorithm: number }) => ({
      key_tag: tag,
      flags: own,
      algorithm: number,
    }));
    await cli.output.print(JSON.stringify({ zone: zoneName, outcome: 'imported', keys: imported, ds }));
    return 0;
  }
  for (const { tag, flags: own, algorithm: number } of keys)
    await cli.output.print(`imported ${zoneName} key tag ${tag} flags ${own} algorithm ${number}`);
  for (const text of ds) await cli.output.print(`  ${zoneName} DS ${text}`);
  return 0;
}

/** Reports missing sealing secrets, or a key that cannot be opened, as an error in the settings. */
export async function orSettings<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DnssecUnavailable) throw new Failure('settings', error.message, { cause: error });
    throw error;
  }
}

async function importOfDomain(
  db: Database,
  order: Omit<Parameters<typeof importPrivateKeys>[1], 'by' | 'source'>,
  cli: Cli,
): Promise<Refused | undefined> {
  const changed = await importPrivateKeys(db, { ...cli.changedBy(), ...order });
  if (changed.kind === 'absent') return NOT_THERE;
  return changed.kind === 'refused' ? { code: changed.code, refused: changed.message } : undefined;
}

async function importOfZone(
  db: Database,
  subject: Subject,
  name: Name,
  keys: readonly ImportedKey[],
  denial: DenialKind,
  cli: Cli,
): Promise<Refused | undefined> {
  const signal = cli.interruptible();
  const { algorithm } = keys[0] as ImportedKey;
  const split = keys.length > 1;
  const enabled = await cli.audited(db, 'zone.dnssec', async (trx, tell) => {
    const result = await enableSigning(
      trx,
      subject,
      { denial, algorithm, split, imported: keys },
      cli.changedBy(),
    );
    if (result.kind === 'signed' || result.kind === 'signing')
      tell({ target: { name: printName(name) }, after: { goal: 'signed', denial, algorithm, split } });
    return result;
  });
  if (enabled.kind === 'refused') return { code: enabled.code, refused: enabled.message };
  if (enabled.kind === 'signing') await signInPieces(db, enabled.signed.id, signal);
  return undefined;
}

export async function refuse(
  name: Name,
  { code, refused: message }: Refused,
  output: Output,
): Promise<number> {
  const zone = printName(name);
  if (output.json) await output.print(JSON.stringify({ zone, outcome: 'refused', code, message }));
  else await output.complain(`${zone}: ${message}`);
  return 1;
}
