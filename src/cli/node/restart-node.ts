// `zonefleet node restart`: restarts the nodes of this machine without losing an answer.

import { existsSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { CONTROL_FILE, type RestartOutcome, withControlPath } from '../../process/control-path.ts';
import { rootPlaceOf } from '../../process/run-as.ts';
import { Failure } from '../terminal/failure.ts';
import type { Output } from '../terminal/output.ts';

/** Restarts the named nodes, or all that have a control socket, one after the other. Returns the exit code. */
export async function restartNodes(
  dataDirectory: string,
  names: readonly string[],
  output: Output,
): Promise<number> {
  const places = [dataDirectory, rootPlaceOf(dataDirectory)].map((place) => join(place, 'nodes'));
  const found = new Map(places.flatMap(listNodes));
  const outcomes: RestartOutcome[] = [];
  for (const name of names.length > 0 ? names : found.keys()) {
    const directory = found.get(name);
    const outcome: RestartOutcome | undefined =
      directory === undefined
        ? { kind: 'failed', reason: `it has no control socket in ${places.join(' or ')}` }
        : await restart(directory);
    if (outcome === undefined && names.length === 0) continue;
    const told = outcome ?? { kind: 'failed', reason: 'it does not run' };
    outcomes.push(told);
    await print(name, told, output);
  }
  if (outcomes.length === 0)
    throw new Failure('usage', `no node runs in ${dataDirectory}: set DATA_DIR to the node's directory`);
  return outcomes.some(({ kind }) => kind === 'failed') ? 1 : 0;
}

function listNodes(place: string): [string, string][] {
  if (!existsSync(place)) return [];
  return readdirSync(place)
    .map((name): [string, string] => [name, join(place, name)])
    .filter(([, directory]) => existsSync(join(directory, CONTROL_FILE)));
}

/** Returns undefined if the node does not run: a process that is killed leaves its socket. */
async function restart(directory: string): Promise<RestartOutcome | undefined> {
  const socket = await withControlPath(directory, (path) => connect(path));
  socket.write('{"ask":"restart"}\n');
  let text = '';
  try {
    for await (const chunk of socket) text += chunk;
    if (text === '') return { kind: 'failed', reason: 'it ended without an answer' };
    return JSON.parse(text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return undefined;
    return { kind: 'failed', reason: `it does not answer (${(error as Error).message})` };
  }
}

async function print(name: string, outcome: RestartOutcome, output: Output): Promise<void> {
  if (output.json) await output.print(JSON.stringify({ node: name, ...outcome }));
  else if (outcome.kind === 'failed') await output.complain(`${name}: ${outcome.reason}`);
  else await output.print(`restarted ${name} process ${outcome.before} is replaced by ${outcome.pid}`);
}
