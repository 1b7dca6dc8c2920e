// Creates, imports, lists and revokes TSIG keys of the operator.

import type { Cli } from '../../cli/terminal/cli.ts';
import { Failure } from '../../cli/terminal/failure.ts';
import { printTable } from '../../cli/terminal/print-table.ts';
import { readStandardInput } from '../../cli/terminal/read-standard-input.ts';
import type { AuditAction } from '../../store/audit/audit-actions.ts';
import {
  createKey,
  importKey,
  listKeys,
  loadKey,
  revokeKey,
  type StoredKey,
  TSIG_ALGORITHMS,
  type TsigKeyRow,
} from '../../store/transfers/keys.ts';
import { keyNote } from './print.ts';
import { KEY_LABEL, printKey, readKeyName, readSecret, WRONG_LABEL, WRONG_SECRET } from './rules.ts';

export async function createKeyFor(cli: Cli, text: string, options: { algorithm: string }): Promise<void> {
  const algorithm = algorithmOf(options.algorithm);
  const label = text.toLowerCase();
  if (!KEY_LABEL.test(label)) throw new Failure('usage', `"${text}": ${WRONG_LABEL}`);
  await storeKey(cli, 'tsig.create', `${label}.`, async (trx, secrets) =>
    createKey(trx, secrets, { accountId: null, label, algorithm }),
  );
}

export async function importKeyOf(
  cli: Cli,
  text: string,
  options: { algorithm: string; secret: string | undefined },
): Promise<void> {
  const algorithm = algorithmOf(options.algorithm);
  const name = nameOf(text);
  const secret = readSecret((options.secret ?? (await readStandardInput())).trim());
  if (secret === undefined) throw new Failure('usage', `the secret: ${WRONG_SECRET}`);
  await storeKey(cli, 'tsig.import', name, async (trx, secrets) =>
    importKey(trx, secrets, { accountId: null, name, algorithm, secret }),
  );
}

type Store = (
  trx: Parameters<typeof createKey>[0],
  secrets: Parameters<typeof createKey>[1],
) => Promise<StoredKey>;

async function storeKey(cli: Cli, action: AuditAction, name: string, work: Store): Promise<void> {
  const { output } = cli;
  const secrets = await cli.tsigSecrets();
  await cli.withStore(async (db) => {
    const stored = await cli.audited(db, action, async (trx, tell) => {
      const done = await work(trx, secrets);
      if (done.kind === 'stored') tell(keyNote(done.key, 'after'));
      return done;
    });
    if (stored.kind === 'unavailable') throw new Failure('settings', stored.message);
    if (stored.kind !== 'stored') return await output.refuse({ name }, 'a key with this name exists');
    const { key, secret } = stored;
    const isNew = action === 'tsig.create';
    const outcome = isNew ? 'created' : 'imported';
    if (output.json) {
      const shown = isNew ? { secret: Buffer.from(secret).toString('base64') } : {};
      await output.print(JSON.stringify({ ...keyJson(key), outcome, ...shown }));
    } else if (isNew) {
      // Only the key is on stdout, so that `> acme.key` writes a file that nsupdate reads.
      await output.print(printKey(key.name, key.algorithm, secret));
      await output.complain(`created ${key.name} ${key.algorithm}; the secret is not shown again`);
    } else await output.print(`${outcome} ${key.name} ${key.algorithm}`);
    return 0;
  });
}

export async function listAllKeys(cli: Cli): Promise<void> {
  const { output } = cli;
  await cli.withStore(async (db) => {
    const keys = await listKeys(db, null);
    if (output.json) await output.print(JSON.stringify({ keys: keys.map(keyJson) }));
    else {
      const rows = keys.map((key) => [
        key.name,
        key.algorithm,
        key.use,
        key.peers,
        key.grants,
        key.createdAt.toISOString(),
        key.lastUsedAt?.toISOString() ?? '-',
        key.revokedAt?.toISOString() ?? '-',
      ]);
      await output.print(
        printTable(['NAME', 'ALGORITHM', 'USE', 'PEERS', 'GRANTS', 'CREATED', 'LAST USED', 'REVOKED'], rows),
      );
    }
    return 0;
  });
}

export async function revokeKeyOf(
  cli: Cli,
  text: string,
  { force = false }: { force?: boolean },
): Promise<void> {
  const name = nameOf(text);
  const { output } = cli;
  await cli.withStore(async (db) => {
    const revoked = await cli.audited(db, 'tsig.revoke', async (trx, tell) => {
      const key = await loadKey(trx, null, { name });
      if (key === undefined) return { kind: 'absent' } as const;
      const done = await revokeKey(trx, null, key.id, { force });
      if (done.kind === 'revoked') tell(keyNote(done.key, 'before'));
      return done;
    });
    if (revoked.kind === 'absent') return await output.refuse({ name }, 'no such key');
    if (revoked.kind === 'in_use')
      return await output.refuse(
        { name },
        `used by ${usesOf(revoked.key)}; remove these first, or add --force`,
      );
    return await output.done({ name }, 'revoked');
  });
}

/** Describes the uses of a key, such as `1 peer and 2 grants`. */
function usesOf({ peers, grants }: TsigKeyRow): string {
  const uses = [
    [peers, 'peer'],
    [grants, 'grant'],
  ] as const;
  return uses
    .flatMap(([count, noun]) => (count === 0 ? [] : `${count} ${noun}${count === 1 ? '' : 's'}`))
    .join(' and ');
}

function nameOf(text: string): string {
  const name = readKeyName(text);
  if (name === undefined) throw new Failure('usage', `"${text}": not the name of a key`);
  return name;
}

function algorithmOf(text: string) {
  const found = TSIG_ALGORITHMS.find((each) => each === text.toLowerCase());
  if (found !== undefined) return found;
  throw new Failure('usage', `--algorithm: expected ${TSIG_ALGORITHMS.join(', ')}, not "${text}"`);
}

function keyJson(key: TsigKeyRow): object {
  return {
    name: key.name,
    algorithm: key.algorithm,
    use: key.use,
    peers: key.peers,
    grants: key.grants,
    created_at: key.createdAt.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}
