// Consumes catalogs of other operators, and allows their removals.

import type { Cli } from '../../cli/terminal/cli.ts';
import { Failure } from '../../cli/terminal/failure.ts';
import { parseZoneName } from '../../cli/terminal/parse-zone-name.ts';
import { encodeNameColumn } from '../../store/postgres/name-column.ts';
import { MOST_PRIMARIES } from '../secondaries/rules.ts';
import { readMaxMembers } from './cli-produce.ts';
import { confirmVersion, consumeCatalog } from './sql-consumers.ts';

export interface ConsumeOptions {
  readonly from: readonly string[];
  /** GROUP=POLICY */
  readonly group?: readonly string[];
  readonly maxMembers?: string;
}

const MOST_GROUPS = 100;

export async function consumeNamed(cli: Cli, text: string, options: ConsumeOptions): Promise<void> {
  const name = encodeNameColumn(parseZoneName(text));
  const from = [...new Set(options.from)];
  if (from.length > MOST_PRIMARIES)
    throw new Failure('usage', `--from: a catalog has at most ${MOST_PRIMARIES} primaries`);
  const policies = readGroups(options.group ?? []);
  const maxMembers = options.maxMembers === undefined ? undefined : readMaxMembers(options.maxMembers);
  const { output } = cli;
  await cli.withStore(async (db) => {
    const done = await cli.audited(db, 'catalog.consume', async (trx, tell) => {
      const consumed = await consumeCatalog(trx, { name, from, policies, maxMembers });
      if (consumed.kind !== 'refused')
        tell({
          target: { name },
          after: { primaries: from, groups: policies, max_members: maxMembers ?? null },
        });
      return consumed;
    });
    if (done.kind === 'refused') return await output.refuse({ catalog: name }, done.message);
    return await output.done({ catalog: name }, done.kind);
  });
}

function readGroups(texts: readonly string[]): Record<string, string> {
  const groups = new Map<string, string>();
  for (const text of texts) {
    const [, group, policy] = /^([\x21-\x7e]{1,255})=([^=]+)$/.exec(text) ?? [];
    if (group === undefined || policy === undefined)
      throw new Failure('usage', `--group: expected GROUP=POLICY, not "${text}"`);
    if (groups.has(group)) throw new Failure('usage', `--group: ${group} has two policies`);
    groups.set(group, policy);
  }
  if (groups.size > MOST_GROUPS)
    throw new Failure('usage', `--group: at most ${MOST_GROUPS} groups have a policy`);
  return Object.fromEntries(groups);
}

export async function confirmNamed(cli: Cli, text: string): Promise<void> {
  const name = encodeNameColumn(parseZoneName(text));
  const { output } = cli;
  await cli.withStore(async (db) => {
    const done = await cli.audited(db, 'catalog.confirm', async (trx, tell) => {
      const confirmed = await confirmVersion(trx, name);
      if (confirmed === 'confirmed') tell({ target: { name } });
      return confirmed;
    });
    if (done === 'absent') return await output.refuse({ catalog: name }, 'not a consumed catalog');
    if (done === 'not_held')
      return await output.refuse({ catalog: name }, 'no version waits for a confirmation');
    return await output.done({ catalog: name }, 'confirmed');
  });
}
