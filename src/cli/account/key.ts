// `zonefleet key …`: API keys. A new key is printed once, as the only output on stdout, so that scripts can read it.

import type { Command } from 'commander';
import type { ApiKey } from '../../store/accounts/api-keys.ts';
import type { Cli } from '../terminal/cli.ts';
import { commandOf } from '../terminal/commands.ts';
import { Listing, type Output } from '../terminal/output.ts';
import { printTable } from '../terminal/print-table.ts';
import type { KeyOptions } from './read-key-options.ts';

export function addKeyCommands(program: Command, cli: Cli): void {
  const key = commandOf(program, 'key');
  addCreateCommand(key, cli);

  key
    .command('list')
    .description('list keys, including revoked and expired ones')
    .argument('[account]', 'only keys of this account (email or id)')
    .action(async (account: string | undefined) => {
      const { listAccounts } = await import('../../store/accounts/accounts.ts');
      const { listApiKeys } = await import('../../store/accounts/api-keys.ts');
      const { withAccount } = await import('../terminal/find-account.ts');
      await cli.withStore(async (db) => {
        const emails = new Map((await listAccounts(db)).map(({ id, email }) => [id, email]));
        if (account === undefined) return await showKeys(await listApiKeys(db), emails, cli.output);
        return await withAccount(db, account, cli.output, async ({ id }) =>
          showKeys(await listApiKeys(db, id), emails, cli.output),
        );
      });
    });

  key
    .command('revoke')
    .description('revoke keys immediately and permanently; exit 1 if one does not exist')
    .argument(
      '<key...>',
      'ids or the first 10 characters of keys; - to read complete keys from standard input',
    )
    .action((keys: string[]) => revokeKeys(cli, keys));
}

function addCreateCommand(key: Command, cli: Cli): void {
  key
    .command('create')
    .description('create a key and print it once; exit 1 if the account does not exist')
    .argument('<account>', "the account's email or id")
    .option('--name <name>', 'purpose of the key', 'unnamed')
    .option('--read-only', 'allow only reading')
    .option('--expires <when>', 'when it expires: 90d, 12h, 2030-01-31 or 2030-01-31T12:00:00Z')
    .option('--domains <names>', 'comma-separated list: only for these domains')
    .option('--names <names>', 'comma-separated list of full names: may write only records at these names')
    .option('--types <types>', 'comma-separated list: may write only records of these types')
    .option(
      '--acme <names>',
      'comma-separated list: may write only the ACME challenges (TXT) of these names and their wildcards',
    )
    .action(async (account: string, options: KeyOptions) => {
      const { readKeyOptions } = await import('./read-key-options.ts');
      const { keyNote } = await import('../../store/audit/audit-notes.ts');
      const { createApiKey, generateKey } = await import('../../store/accounts/api-keys.ts');
      const { withAccount } = await import('../terminal/find-account.ts');
      const wanted = readKeyOptions(options, new Date());
      const { output } = cli;
      await cli.withStore((db) =>
        withAccount(db, account, output, async ({ id, email }) => {
          const text = generateKey();
          const created = await cli.audited(db, 'key.create', async (trx, tell) => {
            const made = (await createApiKey(trx, text, { accountId: id, ...wanted })) as ApiKey;
            tell(keyNote(made, 'after'));
            return made;
          });
          if (output.json) {
            await output.print(JSON.stringify({ key: text, ...keyJson(created, email) }));
            return 0;
          }
          await output.print(text);
          await output.complain(`key ${created.id} of ${email}; it will not be shown again`);
          return 0;
        }),
      );
    });
}

const INSTEAD =
  'not revoked: other users can see arguments. Give its first 10 characters or its id, or "-" and the key on standard input';

/** Refuses complete keys as arguments, because other users of the machine can read the arguments of a process. */
async function revokeKeys(cli: Cli, named: readonly string[]): Promise<void> {
  const { findKeyIds, isKeyText, revokeApiKey } = await import('../../store/accounts/api-keys.ts');
  const { keyNote } = await import('../../store/audit/audit-notes.ts');
  const { readStandardInput } = await import('../terminal/read-standard-input.ts');
  const given = new Set(named.includes('-') ? (await readStandardInput()).split(/\s+/).filter(Boolean) : []);
  await cli.withStore(async (db) => {
    const listing = new Listing(cli.output, 'keys');
    let refused = 0;
    const refuse = async (key: string, outcome: 'absent' | 'refused', message: string) => {
      refused++;
      await listing.add({ json: { key, outcome, message }, problems: [`${key}: ${message}`] });
    };
    for (const key of new Set([...named, ...given])) {
      // Do not print a whole key, since output may be logged.
      const shown = isKeyText(key) ? `${key.slice(0, 10)}…` : key;
      if (key === '-') {
        if (given.size === 0) await refuse(key, 'refused', 'standard input contains no key');
      } else if (isKeyText(key) && !given.has(key)) await refuse(shown, 'refused', INSTEAD);
      else {
        const [id, ...others] = await findKeyIds(db, key);
        if (id === undefined) await refuse(shown, 'absent', 'no such key');
        else if (others.length > 0)
          await refuse(shown, 'refused', `several keys begin so, with the ids ${[id, ...others].join(', ')}`);
        else {
          await cli.audited(db, 'key.revoke', async (trx, tell) => {
            const revoked = await revokeApiKey(trx, id);
            if (revoked !== undefined) tell(keyNote(revoked, 'before'));
          });
          await listing.add({ json: { key: shown, outcome: 'revoked' }, lines: [`revoked key ${shown}`] });
        }
      }
    }
    await listing.end({});
    return refused > 0 ? 1 : 0;
  });
}

async function showKeys(
  keys: readonly ApiKey[],
  emails: ReadonlyMap<number, string>,
  output: Output,
): Promise<number> {
  const emailOf = ({ accountId }: ApiKey) => emails.get(accountId) ?? String(accountId);
  if (output.json) {
    await output.print(JSON.stringify({ keys: keys.map((key) => keyJson(key, emailOf(key))) }));
    return 0;
  }
  const heads = ['ID', 'KEY', 'ACCOUNT', 'NAME', 'STATE', 'SCOPE', 'EXPIRES', 'USED'];
  const rows = keys.map((key) => [
    key.id,
    `${key.prefix}…`,
    emailOf(key),
    key.name,
    stateOf(key),
    scopeOf(key),
    minute(key.expiresAt),
    minute(key.lastUsedAt),
  ]);
  await output.print(printTable(heads, rows));
  return 0;
}

function stateOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt.getTime() <= Date.now() ? 'expired' : 'valid';
}

function scopeOf({ readOnly, domains, names, types }: ApiKey): string {
  const parts = [
    ...(readOnly ? ['read-only'] : []),
    ...[domains, names, types].filter((list) => list !== null).map((list) => list.join(',')),
  ];
  return parts.join(' ') || 'all';
}

function minute(at: Date | null): string {
  return at === null ? '-' : `${at.toISOString().slice(0, 16)}Z`;
}

function keyJson(key: ApiKey, email: string): object {
  return {
    id: key.id,
    prefix: key.prefix,
    account: { id: key.accountId, email },
    name: key.name,
    state: stateOf(key),
    read_only: key.readOnly,
    domains: key.domains,
    names: key.names,
    types: key.types,
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    created_at: key.createdAt.toISOString(),
  };
}
