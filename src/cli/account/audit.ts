// `zonefleet audit`: reads the audit log.

import type { Command } from 'commander';
import { readSpan } from '../../process/settings/read-span.ts';
import type { AuditRow } from '../../store/audit/load-audit.ts';
import type { Cli } from '../terminal/cli.ts';
import { commandOf } from '../terminal/commands.ts';
import { Failure } from '../terminal/failure.ts';
import type { Output } from '../terminal/output.ts';
import { printTable } from '../terminal/print-table.ts';

interface AuditOptions {
  readonly by?: string;
  readonly about?: string;
  readonly action?: string;
  readonly since?: string;
  readonly limit: string;
}

const MAX_ROWS = 10_000;

export function addAuditCommand(program: Command, cli: Cli): void {
  commandOf(program, 'audit')
    .option('--by <account>', 'only actions of this account (email or id)')
    .option('--about <account>', 'only entries about this account, its keys and its domains')
    .option('--action <action>', 'only this action, such as key.create')
    .option('--since <time>', 'only entries of this time, such as 90m, 24h or 14d')
    .option('--limit <rows>', `at most this many entries, up to ${MAX_ROWS}`, '100')
    .action((options: AuditOptions) => showAudit(cli, options));
}

async function showAudit(cli: Cli, { by, about, action, since, limit }: AuditOptions): Promise<void> {
  const { ACTION_NAMES } = await import('../../store/audit/audit-actions.ts');
  const { listAudit } = await import('../../store/audit/load-audit.ts');
  const { findAccount } = await import('../../store/accounts/accounts.ts');
  const rows = /^[1-9]\d{0,4}$/.test(limit) ? Number(limit) : Number.NaN;
  if (!(rows <= MAX_ROWS)) throw new Failure('usage', `--limit: expected a number from 1 to ${MAX_ROWS}`);
  const ms = since === undefined ? undefined : readSpan(since);
  if (since !== undefined && ms === undefined)
    throw new Failure('usage', '--since: expected a time such as 90m, 24h or 14d');
  const actions = ACTION_NAMES.filter((name) => name === action);
  if (action !== undefined && actions.length === 0)
    throw new Failure('usage', `--action: no action "${action}"`);
  await cli.withStore(async (db) => {
    const idOf = async (option: string, wanted: string | undefined) => {
      if (wanted === undefined) return undefined;
      const account = await findAccount(db, wanted);
      if (account === undefined) throw new Failure('usage', `${option}: no account "${wanted}"`);
      return account.id;
    };
    const filter = {
      actions: action === undefined ? undefined : actions,
      since: ms === undefined ? undefined : new Date(Date.now() - ms),
      actorId: await idOf('--by', by),
      accountId: await idOf('--about', about),
    };
    return await printRows(await listAudit(db, filter, { limit: rows }), cli.output);
  });
}

async function printRows(rows: readonly AuditRow[], output: Output): Promise<number> {
  if (output.json) {
    await output.print(JSON.stringify({ entries: rows.map(rowJson) }));
    return 0;
  }
  const heads = ['AT', 'ACTION', 'BY', 'ADDRESS', 'TARGET', 'BEFORE', 'AFTER'];
  const cells = rows.map(({ at, action, actor, targetName, before, after }) => [
    `${at.toISOString().slice(0, 19)}Z`,
    action,
    actorText(actor),
    actor.address ?? '-',
    targetName ?? '-',
    before === null ? '-' : JSON.stringify(before),
    after === null ? '-' : JSON.stringify(after),
  ]);
  await output.print(printTable(heads, cells));
  return 0;
}

function actorText({ kind, accountId, keyId, name }: AuditRow['actor']): string {
  if (name !== undefined) return `${kind} ${name}`;
  const account = accountId === undefined ? [] : [`account ${accountId}`];
  return [kind, ...account, ...(keyId === undefined ? [] : [`key ${keyId}`])].join(' ');
}

function rowJson({ id, at, action, actor, ...row }: AuditRow): object {
  return {
    id,
    at: at.toISOString(),
    action,
    actor: {
      kind: actor.kind,
      account_id: actor.accountId ?? null,
      key_id: actor.keyId ?? null,
      address: actor.address ?? null,
      name: actor.name ?? null,
    },
    account_id: row.accountId,
    domain_id: row.domainId,
    change_id: row.changeId,
    target: row.targetName,
    before: row.before,
    after: row.after,
  };
}
