// Registers edges, issues their tokens, drains and revokes them.

import { createEdge, drainEdge, revokeEdge, rotateEdgeToken } from '../../store/edges/edges.ts';
import type { Cli } from '../terminal/cli.ts';
import { readAddresses, readEdgeName, readRegion } from './read-edge-words.ts';

interface CreateOptions {
  readonly region: string;
  readonly address: readonly string[];
  readonly allowLoopback?: boolean;
}

export async function createOne(cli: Cli, name: string, options: CreateOptions): Promise<void> {
  const region = readRegion(options.region);
  const { v4, v6, private: inside } = readAddresses(options.address, options.allowLoopback === true);
  await cli.withStore(async (db) => {
    const outcome = await cli.audited(db, 'edge.create', async (trx, tell) => {
      const created = await createEdge(trx, { name: readEdgeName(name), region, v4, v6 });
      if (created.kind === 'created')
        tell({ target: { name }, after: { region, addresses: [...v4, ...v6] } });
      return created;
    });
    if (outcome.kind === 'created') {
      for (const address of inside)
        await cli.output.complain(
          `${address} is not public: visitors cannot reach it, but it will be published`,
        );
      return await showToken(cli, name, outcome.token, 'created');
    }
    const error =
      outcome.kind === 'exists'
        ? 'already exists'
        : outcome.kind === 'too_many'
          ? `there are already ${outcome.most} edges, which is the limit`
          : `${outcome.address} is already an address of ${outcome.by}`;
    return await refuse(cli, name, error);
  });
}

export async function rotateOne(cli: Cli, name: string): Promise<void> {
  await cli.withStore(async (db) => {
    const token = await cli.audited(db, 'edge.rotate', async (trx, tell) => {
      const made = await rotateEdgeToken(trx, name);
      if (made !== undefined) tell({ target: { name } });
      return made;
    });
    return token === undefined
      ? await refuse(cli, name, ABSENT)
      : await showToken(cli, name, token, 'rotated');
  });
}

export async function drainOne(cli: Cli, name: string, isDrained: boolean): Promise<void> {
  await cli.withStore(async (db) => {
    const outcome = await cli.audited(db, 'edge.drain', async (trx, tell) => {
      const done = await drainEdge(trx, name, isDrained);
      if (done === 'changed')
        tell({ target: { name }, before: { drained: !isDrained }, after: { drained: isDrained } });
      return done;
    });
    if (outcome === 'absent') return await refuse(cli, name, ABSENT);
    return await tellDone(
      cli,
      name,
      outcome === 'unchanged' ? 'unchanged' : isDrained ? 'drained' : 'undrained',
    );
  });
}

export async function revokeOne(cli: Cli, name: string): Promise<void> {
  await cli.withStore(async (db) => {
    const isRevoked = await cli.audited(db, 'edge.revoke', async (trx, tell) => {
      const done = await revokeEdge(trx, name);
      if (done) tell({ target: { name } });
      return done;
    });
    return isRevoked ? await tellDone(cli, name, 'revoked') : await refuse(cli, name, ABSENT);
  });
}

const ABSENT = 'no such edge, or it was revoked';

async function showToken({ output }: Cli, name: string, token: string, outcome: string): Promise<number> {
  if (output.json) await output.print(JSON.stringify({ name, outcome, token }));
  else {
    await output.print(token);
    await output.complain(`the token of ${name}; it will not be shown again`);
  }
  return 0;
}

async function tellDone({ output }: Cli, name: string, outcome: string): Promise<number> {
  await output.print(output.json ? JSON.stringify({ name, outcome }) : `${name}: ${outcome}`);
  return 0;
}

async function refuse({ output }: Cli, name: string, error: string): Promise<number> {
  if (output.json) await output.print(JSON.stringify({ name, outcome: 'refused', error }));
  else await output.complain(`${name}: ${error}`);
  return 1;
}
