// `cache purges`: the last purges of a domain, and which edges have done one.

import { purgeProgress } from '../../edge/purges/purge-progress.ts';
import type { PurgeTarget } from '../../edge/purges/purge-target.ts';
import { loadLastPurges, loadPurge, type StoredPurge } from '../../store/purges/load-purge.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { onOneDomain } from '../domain/on-one-domain.ts';
import type { OwnerOption } from '../domain/with-owner.ts';
import type { Cli } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';
import { printTable } from '../terminal/print-table.ts';

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

/** Exit code 1: there is none of this number. */
export async function showPurge(cli: Cli, text: string, idText: string, options: OwnerOption): Promise<void> {
  const { output } = cli;
  if (!/^[1-9]\d{0,14}$/.test(idText)) throw new Failure('usage', `"${idText}" is no number of a purge`);
  await cli.withStore((db) =>
    onOneDomain(db, text, options, output, async ({ id, name }) => {
      const domain = printWithoutDot(name);
      const purge = await loadPurge(db, id, Number(idText));
      if (purge === undefined) {
        const error = 'no such purge; they are kept for eight days';
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
