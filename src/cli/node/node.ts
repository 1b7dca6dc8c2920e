// The commands of `zonefleet node`: what the nodes of the fleet report of themselves, and the release of removals that
// a node holds back because they would take away most of its zones (docs/rules.md "Health and held removals").

import type { Command } from 'commander';
import type { ConfirmedNode, ForgottenNode, ListedNode } from '../../store/feed/nodes.ts';
import type { Cli } from '../terminal/cli.ts';
import type { Output } from '../terminal/output.ts';
import { printSpan } from '../terminal/print-span.ts';
import { printTable } from '../terminal/print-table.ts';

export function addNodeCommands(program: Command, cli: Cli): void {
  const node = program.command('node').description('the nameserver nodes of the fleet');

  node
    .command('list')
    .description('feed position, lag, zones, records, uptime; exit 1 if any node holds removals back')
    .action(async () => {
      const { listNodes } = await import('../../store/feed/nodes.ts');
      await cli.withStore(async (db) => showNodes(await listNodes(db), cli.output));
    });

  node
    .command('confirm')
    .description('let the removals through that nodes hold back; exit 1 if one of them holds none')
    .argument('[node...]', 'node names (default: all that hold some)')
    .action(async (names: string[]) => {
      const { confirmNodes } = await import('../../store/feed/nodes.ts');
      const wanted = names.length > 0 ? [...new Set(names)] : undefined;
      await cli.withStore(async (db) => {
        const confirmed = await cli.audited(db, 'node.confirm', async (trx, tell) => {
          const nodes = await confirmNodes(trx, wanted);
          for (const { name, outcome, zones } of nodes)
            if (outcome === 'confirmed') tell({ target: { name }, after: { zones } });
          return nodes;
        });
        return await showConfirmed(confirmed, cli.output);
      });
    });

  node
    .command('forget')
    .description('say that nodes are gone for good, so that keys of signed zones no longer wait for them')
    .argument('<node...>', 'node names')
    .action(async (names: string[]) => {
      const { forgetNodes } = await import('../../store/feed/nodes.ts');
      await cli.withStore(async (db) => {
        const forgotten = await cli.audited(db, 'node.forget', async (trx, tell) => {
          const nodes = await forgetNodes(trx, [...new Set(names)]);
          for (const { name, outcome } of nodes) if (outcome === 'forgotten') tell({ target: { name } });
          return nodes;
        });
        return await showForgotten(forgotten, cli.output);
      });
    });
}

async function showForgotten(nodes: readonly ForgottenNode[], output: Output): Promise<number> {
  const refused = nodes.filter(({ outcome }) => outcome === 'live' || outcome === 'absent');
  if (output.json) {
    await output.print(JSON.stringify({ nodes }));
  } else {
    for (const { name, outcome } of nodes) {
      if (outcome === 'live') await output.complain(`${name}: it reports itself, so it is not gone`);
      else if (outcome === 'absent') await output.complain(`${name}: no such node`);
      else await output.print(`${outcome} ${name}`);
    }
  }
  return refused.length === 0 ? 0 : 1;
}

/** True while an operator has to decide. */
function isHeld(node: ListedNode): boolean {
  return node.held !== null && !node.held.confirmed;
}

async function showNodes(nodes: readonly ListedNode[], output: Output): Promise<number> {
  const heads = ['NODE', 'STATE', 'ZONES', 'RECORDS', 'POSITION', 'LAG', 'UPTIME', 'UNSERVED', 'HELD'];
  if (output.json) await output.print(JSON.stringify({ nodes: nodes.map(nodeJson) }));
  else await output.print(printTable(heads, nodes.map(nodeRow)));
  const held = nodes.filter(isHeld).map(({ name }) => name);
  if (held.length === 0) return 0;
  if (!output.json) {
    await output.complain(
      `removals are held back; if they are meant: zonefleet node confirm ${held.join(' ')}`,
    );
  }
  return 1;
}

function nodeRow(node: ListedNode): (string | number)[] {
  const { name, zones, records, position, unserved } = node;
  const state = node.state === 'live' && !node.loaded ? 'loading' : node.state;
  const lag = node.lagSeconds === null ? 'unknown' : printSpan(node.lagSeconds);
  const gone = node.state === 'left';
  const uptime = gone ? '-' : printSpan(node.uptimeSeconds);
  const behind = unserved === 0 || gone ? '-' : (unserved ?? 'over 1000');
  return [name, state, zones, records, position ?? '-', gone ? '-' : lag, uptime, behind, heldText(node)];
}

function heldText({ held }: ListedNode): string {
  if (held === null) return '-';
  const since = held.since.toISOString().slice(0, 19);
  return `${held.zones} removals since ${since}Z${held.confirmed ? ', confirmed' : ''}`;
}

function nodeJson(node: ListedNode): object {
  const { held } = node;
  return {
    name: node.name,
    state: node.state,
    loaded: node.loaded,
    started_at: node.startedAt.toISOString(),
    seen_at: node.seenAt.toISOString(),
    uptime_seconds: Math.round(node.uptimeSeconds),
    position: node.position,
    lag_seconds: node.lagSeconds,
    zones: node.zones,
    records: node.records,
    unserved_zones: node.unserved,
    held: held && { zones: held.zones, since: held.since.toISOString(), confirmed: held.confirmed },
  };
}

async function showConfirmed(nodes: readonly ConfirmedNode[], output: Output): Promise<number> {
  const refused = nodes.filter(({ outcome }) => outcome !== 'confirmed');
  const code = nodes.length === 0 || refused.length > 0 ? 1 : 0;
  if (output.json) {
    await output.print(
      JSON.stringify({ nodes: nodes.map(({ name, outcome, zones }) => ({ name, outcome, zones })) }),
    );
    return code;
  }
  if (nodes.length === 0) await output.complain('no node holds removals back');
  for (const { name, outcome, zones } of nodes) {
    if (outcome === 'confirmed') await output.print(`confirmed ${name} removals ${zones}`);
    else await output.complain(`${name}: ${outcome === 'absent' ? 'no such node' : 'holds nothing back'}`);
  }
  return code;
}
