// `zonefleet node restart`: restarts the nodes of this machine without losing answers.

import { readdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { CONTROL_FILE, type RestartOutcome, withControlPath } from '../../process/control-path.ts';
import { RESTART_LIMIT_MS } from '../../process/restart-limit.ts';
import { loadAccounts, nameOfUser, rootPlaceOf } from '../../process/run-as.ts';
import { Failure } from '../terminal/failure.ts';
import type { Output } from '../terminal/output.ts';

/** Longer than the node's own limit, so that the node reports its reason first. */
const REPLY_LIMIT_MS = RESTART_LIMIT_MS + 60_000;
const MAX_REPLY_CHARACTERS = 65_536;

/** Restarts the named nodes, or all that have a control socket, one after another. Returns the exit code. */
export async function restartNodes(
  dataDirectory: string,
  names: readonly string[],
  output: Output,
): Promise<number> {
  const places = [dataDirectory, rootPlaceOf(dataDirectory)].map((place) => join(place, 'nodes'));
  const found = new Map(
    names.length > 0
      ? names.map((name) => [name, places.map((place) => join(place, name)).findLast(mayHaveSocket)])
      : places.flatMap(listNodes),
  );
  const outcomes: RestartOutcome[] = [];
  for (const [name, directory] of found) {
    const outcome: RestartOutcome | undefined =
      directory === undefined
        ? { kind: 'failed', reason: `it has no control socket in ${places.join(' or ')}` }
        : await restart(directory);
    if (outcome === undefined && names.length === 0) continue;
    const told = outcome ?? { kind: 'failed', reason: 'it is not running' };
    outcomes.push(told);
    await print(name, told, output);
  }
  if (outcomes.length === 0)
    throw new Failure('usage', `no node runs in ${dataDirectory}: set DATA_DIR to the node's directory`);
  return outcomes.some(({ kind }) => kind === 'failed') ? 1 : 0;
}

function listNodes(place: string): [string, string][] {
  try {
    return readdirSync(place)
      .map((name): [string, string] => [name, join(place, name)])
      .filter(([, directory]) => mayHaveSocket(directory));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    if (code !== 'EACCES') throw error;
    throw new Failure(
      'usage',
      `this user may not list ${place}: name the nodes, or run this command as root`,
    );
  }
}

/** Also returns true if this user may not enter the directory: `restart` then reports which user may. */
function mayHaveSocket(directory: string): boolean {
  try {
    return statSync(join(directory, CONTROL_FILE), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** Returns undefined if the node is not running: a killed process leaves its socket behind. */
async function restart(directory: string): Promise<RestartOutcome | undefined> {
  let limit: NodeJS.Timeout | undefined;
  try {
    const socket = await withControlPath(directory, (path) => connect(path));
    limit = setTimeout(() => {
      socket.destroy(new Error(`no reply within ${REPLY_LIMIT_MS / 60_000} minutes`));
    }, REPLY_LIMIT_MS);
    socket.write('{"ask":"restart"}\n');
    let text = '';
    for await (const chunk of socket) {
      text += chunk;
      if (text.length > MAX_REPLY_CHARACTERS) throw new Error('its reply is too long');
    }
    if (text === '') return { kind: 'failed', reason: 'it ended without a reply' };
    return JSON.parse(text);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED') return undefined;
    if (code === 'EACCES') return { kind: 'failed', reason: explainDenied(directory) };
    return { kind: 'failed', reason: `it does not respond (${message})` };
  } finally {
    clearTimeout(limit);
  }
}

/** Names the owner of the socket, or of the directory: usually the user that runs the node. */
function explainDenied(directory: string): string {
  const owner = ownerOf(join(directory, CONTROL_FILE)) ?? ownerOf(directory);
  const name = owner === undefined ? '' : `${nameOfUser(owner, loadAccounts())}, `;
  const root = owner === 0 ? '' : ', or as root';
  return `permission denied: run this command as ${name}the user that the node runs as${root}`;
}

function ownerOf(path: string): number | undefined {
  try {
    return statSync(path).uid;
  } catch {
    return undefined;
  }
}

async function print(name: string, outcome: RestartOutcome, output: Output): Promise<void> {
  if (output.json) await output.print(JSON.stringify({ node: name, ...outcome }));
  else if (outcome.kind === 'failed') await output.complain(`${name}: ${outcome.reason}`);
  else await output.print(`restarted ${name}: process ${outcome.pid} replaces ${outcome.before}`);
}
