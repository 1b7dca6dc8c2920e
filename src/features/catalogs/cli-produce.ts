// Creates and changes catalogs of this fleet.

import type { Cli } from '../../cli/terminal/cli.ts';
import { Failure } from '../../cli/terminal/failure.ts';
import { Listing } from '../../cli/terminal/output.ts';
import { parseZoneName, parseZoneNames } from '../../cli/terminal/parse-zone-name.ts';
import { encodeNameColumn } from '../../store/postgres/name-column.ts';
import { type CatalogToCreate, changeNames, createCatalog, findAbsent, setMaxMembers } from './sql-manage.ts';

export interface CreateOptions {
  readonly select?: string;
  readonly policy?: string;
  readonly groupByPolicy?: true;
  readonly maxMembers: string;
}

const MOST_MEMBERS = 1_000_000;
const NOT_PRODUCED = 'no such catalog of this fleet';

export async function createCatalogNamed(cli: Cli, text: string, options: CreateOptions): Promise<void> {
  const { select, policy, groupByPolicy: isGroupedByPolicy = false } = options;
  const name = encodeNameColumn(parseZoneName(text));
  const selects = select === undefined ? undefined : readSelection(select);
  const catalog = {
    name,
    selects,
    policy,
    isGroupedByPolicy,
    maxMembers: readMaxMembers(options.maxMembers),
  };
  const { output } = cli;
  await cli.withStore(async (db) => {
    const created = await cli.audited(db, 'catalog.create', async (trx, tell) => {
      const done = await createCatalog(trx, catalog, cli.actor());
      if (done.kind === 'created') tell({ target: { name }, after: toldCatalog(catalog) });
      return done;
    });
    if (created.kind === 'refused') {
      const { why: message } = created;
      if (output.json) await output.print(JSON.stringify({ catalog: name, outcome: 'refused', message }));
      else await output.complain(`${name} ${message}`);
      return 1;
    }
    const how = 'add one with a key (tsig create, peer add --key, policy set)';
    const warnings = created.hasKey ? [] : [`no peer of the policy ${policy ?? 'default'} has a key: ${how}`];
    if (output.json) await output.print(JSON.stringify({ catalog: name, outcome: 'created', warnings }));
    else {
      await output.print(`created ${name}`);
      for (const warning of warnings) await output.complain(`warning: ${warning}`);
    }
    return 0;
  });
}

function readSelection(text: string): CatalogToCreate['selects'] {
  if (text === 'all') return { kind: 'all' };
  const id = /^account=([1-9]\d{0,14})$/.exec(text)?.[1];
  if (id === undefined) throw new Failure('usage', `--select: expected all or account=ID, not "${text}"`);
  return { kind: 'account', accountId: Number(id) };
}

export function readMaxMembers(text: string): number {
  const number = /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= MOST_MEMBERS) return number;
  throw new Failure('usage', `--max-members: expected a number from 1 to ${MOST_MEMBERS}, not "${text}"`);
}

function toldCatalog({ selects, policy, isGroupedByPolicy, maxMembers }: CatalogToCreate) {
  return {
    select: selects?.kind ?? null,
    ...(selects?.kind === 'account' && { account_id: selects.accountId }),
    policy: policy ?? null,
    group_by_policy: isGroupedByPolicy,
    max_members: maxMembers,
  };
}

export async function setCatalog(
  cli: Cli,
  text: string,
  options: { readonly maxMembers: string },
): Promise<void> {
  const name = encodeNameColumn(parseZoneName(text));
  const maxMembers = readMaxMembers(options.maxMembers);
  const { output } = cli;
  await cli.withStore(async (db) => {
    const before = await cli.audited(db, 'catalog.set', async (trx, tell) => {
      const former = await setMaxMembers(trx, name, maxMembers);
      if (former !== undefined)
        tell({ target: { name }, before: { max_members: former }, after: { max_members: maxMembers } });
      return former;
    });
    if (before === undefined) return await output.refuse({ catalog: name }, NOT_PRODUCED);
    return await output.done({ catalog: name }, 'set');
  });
}

export async function changeMembers(
  cli: Cli,
  verb: 'add' | 'remove',
  text: string,
  texts: readonly string[],
): Promise<void> {
  const name = encodeNameColumn(parseZoneName(text));
  const zones = parseZoneNames(texts);
  const outcome = verb === 'add' ? 'added' : 'removed';
  const { output } = cli;
  await cli.withStore(async (db) => {
    const changed = await cli.audited(db, 'catalog.member', async (trx, tell) => {
      const done = await changeNames(trx, name, verb, zones);
      if (done !== undefined && done.length > 0)
        tell({ target: { name }, after: { [outcome]: done.length, names: done } });
      return done;
    });
    if (changed === undefined) return await output.refuse({ catalog: name }, NOT_PRODUCED);
    const absent = verb === 'add' ? await findAbsent(db, zones) : new Set();
    const listing = new Listing(output, 'zones');
    for (const zone of zones) {
      const isChanged = changed.includes(zone);
      const warnings = absent.has(zone) ? [NO_ZONE_YET] : [];
      await listing.add({
        json: { zone, outcome: isChanged ? outcome : 'unchanged', warnings },
        ...(isChanged && { lines: [`${outcome} ${zone}`] }),
        problems: [
          ...(isChanged ? [] : [`${zone}: ${UNCHANGED[verb]}`]),
          ...warnings.map((warning) => `warning: ${zone}: ${warning}`),
        ],
      });
    }
    const unchanged = zones.length - changed.length;
    await listing.end({ summary: { [outcome]: changed.length, unchanged } });
    return verb === 'remove' && unchanged > 0 ? 1 : 0;
  });
}

const NO_ZONE_YET = 'there is no such zone; it becomes a member when nodes serve it';
const UNCHANGED = { add: 'was added before', remove: 'was not added by hand' };
