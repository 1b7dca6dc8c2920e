// `zonefleet cache purge`, `refresh` and `purges`.

import type { Cli } from '../../cli/terminal/cli.ts';
import { Failure } from '../../cli/terminal/failure.ts';
import { onOneDomain } from '../../cli/terminal/on-one-domain.ts';
import { printTable } from '../../cli/terminal/print-table.ts';
import type { OwnerOption } from '../../cli/terminal/with-owner.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { type PurgeTarget, purgeProgress, readPurgeTarget } from './rules.ts';
import { loadLastPurges, loadPurge, orderPurge, type StoredPurge } from './sql-purges.ts';

export interface PurgeOptions extends OwnerOption {
  readonly all?: boolean;
  readonly host?: string;
  readonly url?: string;
  readonly prefix?: string;
}

const WHY = {
  often: 'too many purges of it in this minute',
  open: 'too many purges of it are not completed by all edges yet: --all replaces them',
} as const;

export async function purgeCache(cli: Cli, text: string, options: PurgeOptions): Promise<void> {
  const { all = false, account, ...wish } = options;
  if (Object.keys(wish).length + Number(all) !== 1)
    throw new Failure('usage', 'specify exactly one of --all, --host, --url, --prefix');
  await order(cli, { text, account, wish, action: 'cache.purge' });
}

export async function refreshUrl(
  cli: Cli,
  text: string,
  url: string,
  { account }: OwnerOption,
): Promise<void> {
  await order(cli, { text, account, wish: { url }, action: 'cache.refresh' });
}

interface Order {
  readonly text: string;
  readonly account: string | undefined;
  readonly wish: Parameters<typeof readPurgeTarget>[1];
  readonly action: 'cache.purge' | 'cache.refresh';
}

async function order(cli: Cli, { text, account, wish, action }: Order): Promise<void> {
  const { output } = cli;
  await cli.withStore((db) =>
    onOneDomain(db, text, account === undefined ? {} : { account }, output, async ({ id, name }) => {
      const domain = printWithoutDot(name);
      const refuse = async (error: string) => {
        if (output.json) await output.print(JSON.stringify({ domain, outcome: 'refused', error }));
        else await output.complain(`${domain}: ${error}`);
        return 1;
      };
      const target = readPurgeTarget(domain, wish);
      if ('problem' in target) return await refuse(target.problem.error);
      const wanted =
        action === 'cache.refresh' && target.kind === 'url' ? { ...target, refresh: true as const } : target;
      const ordered = await cli.audited(db, action, async (trx, tell) => {
        const made = await orderPurge(trx, id, wanted);
        if (made.kind === 'ordered')
          tell({ domainId: id, target: { name: domain }, after: { purge: made.id, ...wish } });
        return made;
      });
      if (ordered.kind === 'limited') return await refuse(WHY[ordered.why]);
      await output.print(
        output.json
          ? JSON.stringify({ domain, outcome: 'ordered', purge: ordered.id })
          : `${domain}: purge ${ordered.id} is ordered; "zonefleet cache purges ${domain} ${ordered.id}" shows its progress`,
      );
      return 0;
    }),
  );
}

const SHOWN = 50;

export async function listPurges(cli: Cli, text: string, options: OwnerOption): Promise<void> {
  const { output } = cli;
  await cli.withStore((db) =>
    onOneDomain(db, text, options, output, async ({ id, name }) => {
      const purges = await loadLastPurges(db, id, SHOWN);
      if (output.json)
        await output.print(JSON.stringify({ domain: printWithoutDot(name), purges: purges.map(jsonOf) }));
      else
        await output.print(
          printTable(
            ['ID', 'AT', 'EDGES', 'DONE', 'STATE', 'WHAT'],
            purges.map((purge) => {
              const { edges, done } = purgeProgress(purge.edges, purge.replacedBy);
              return [purge.id, second(purge.at), edges, done, stateOf(purge), printTarget(purge.target)];
            }),
          ),
        );
      return 0;
    }),
  );
}

/** Exits with 1 if the domain has no purge with this id. */
export async function showPurge(cli: Cli, text: string, idText: string, options: OwnerOption): Promise<void> {
  const { output } = cli;
  if (!/^[1-9]\d{0,14}$/.test(idText)) throw new Failure('usage', `"${idText}" is not the number of a purge`);
  await cli.withStore((db) =>
    onOneDomain(db, text, options, output, async ({ id, name }) => {
      const domain = printWithoutDot(name);
      const purge = await loadPurge(db, id, Number(idText));
      if (purge === undefined) {
        const error = 'no such purge; purges are kept for eight days';
        if (output.json) await output.print(JSON.stringify({ domain, outcome: 'refused', error }));
        else await output.complain(`${domain}: ${error}`);
        return 1;
      }
      if (output.json) {
        await output.print(JSON.stringify({ domain, purge: jsonOf(purge) }));
        return 0;
      }
      const by = purge.replacedBy === null ? '' : ` by purge ${purge.replacedBy}`;
      await output.print(
        printTable(
          [`purge ${purge.id} of ${domain}`, ''],
          [
            ['  what', printTarget(purge.target)],
            ['  state', `${stateOf(purge)}${by}`],
          ],
        ),
      );
      const rows = purge.edges.map(({ name, isLive, doneAt, error }) => [
        name,
        isLive ? 'live' : 'silent',
        doneAt === null ? '-' : second(doneAt),
        (doneAt === null ? error : null) ?? '-',
      ]);
      await output.print(printTable(['EDGE', 'STATE', 'DONE', 'ERROR'], rows));
      return 0;
    }),
  );
}

function stateOf({ edges, replacedBy }: StoredPurge): 'replaced' | 'finished' | 'open' {
  if (replacedBy !== null) return 'replaced';
  return purgeProgress(edges, replacedBy).finished ? 'finished' : 'open';
}

function printTarget(target: PurgeTarget): string {
  switch (target.kind) {
    case 'all':
      return 'everything';
    case 'host':
      return `host ${target.host}`;
    case 'prefix':
      return `prefix ${target.host}${target.path}`;
    case 'stored':
      return `entry ${target.hostname} ${target.store_path}`;
    case 'url':
      return `${target.refresh ? 'refresh' : 'url'} ${target.host}${target.path}${target.query === '' ? '' : `?${target.query}`}`;
    default:
      return target satisfies never;
  }
}

function jsonOf(purge: StoredPurge): object {
  const { id, at, target, replacedBy, edges } = purge;
  return {
    id,
    created_at: at.toISOString(),
    target,
    ...purgeProgress(edges, replacedBy),
    ...(replacedBy !== null && { replaced_by: replacedBy }),
    nodes: edges.map(({ name, isLive, doneAt, error }) => ({
      node: name,
      live: isLive,
      ...(doneAt !== null && { done_at: doneAt.toISOString() }),
      ...(error !== null && doneAt === null && { error }),
    })),
  };
}

function second(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}
