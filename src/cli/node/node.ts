// `zonefleet node …`: lists the nodes of the fleet, and allows removals that a node holds because they affect most of its zones
// (docs/rules.md "Health and held removals").

import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { ConfirmedNode, ForgottenNode } from '../../store/feed/nodes.ts';
import type { Cli } from '../terminal/cli.ts';
import { commandOf } from '../terminal/commands.ts';
import type { Output } from '../terminal/output.ts';
import { showNodes } from './show-nodes.ts';

/** Nodes report every second. */
const BETWEEN_LOOKS_MS = 3000;

export function addNodeCommands(program: Command, cli: Cli): void {
  const node = commandOf(program, 'node');

  node
    .command('list')
    .description('list the nodes and their reports; exit 1 if any node holds removals')
    .option('--rates', 'read the reports twice, 3 s apart, to show answers and drops per second')
    .action(async ({ rates }: { rates?: true }) => {
      const { listNodes } = await import('../../store/feed/nodes.ts');
      await cli.withStore(async (db) => {
        const before = rates === true ? await listNodes(db) : undefined;
        if (before !== undefined) await pause(BETWEEN_LOOKS_MS);
        return await showNodes(await listNodes(db), before, cli.output);
      });
    });

  node
    .command('restart')
    .description(
      'restart nodes of this machine without losing answers: the new process takes over the sockets',
    )
    .argument('[node...]', 'node names (default: all in DATA_DIR, one after the other)')
    .action(async (names: string[]) => {
      const { restartNodes } = await import('./restart-node.ts');
      cli.exitCode = await restartNodes(
        (await cli.settings()).dataDirectory,
        [...new Set(names)],
        cli.output,
      );
    });

  node
    .command('confirm')
    .description('allow the removals that nodes hold; exit 1 if one of them holds none')
    .argument('[node...]', 'node names (default: all that hold removals)')
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
    .description(
      'remove permanently retired nodes from the list; keys of signed zones no longer wait for them',
    )
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
      if (outcome === 'live') await output.complain(`${name}: it still reports, so it cannot be removed`);
      else if (outcome === 'absent') await output.complain(`${name}: no such node`);
      else await output.print(`${outcome} ${name}`);
    }
  }
  return refused.length === 0 ? 0 : 1;
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
  if (nodes.length === 0) await output.complain('no node holds removals');
  for (const { name, outcome, zones } of nodes) {
    if (outcome === 'confirmed') await output.print(`confirmed ${name} removals ${zones}`);
    else await output.complain(`${name}: ${outcome === 'absent' ? 'no such node' : 'holds no removals'}`);
  }
  return code;
}
