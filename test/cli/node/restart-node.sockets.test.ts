import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { addNodeCommands } from '../../../src/cli/node/node.ts';
import { withControlPath } from '../../../src/process/control-path.ts';
import { RESTART_LIMIT_MS } from '../../../src/process/restart-limit.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { until } from '../../support/tests/until.ts';

let root: string;
let dataDirectory: string;
/** Requests to the nodes and their replies, in order. */
let events: string[];
let servers: Server[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'zf-restart-'));
  dataDirectory = root;
  events = [];
  servers = [];
});
afterEach(() => {
  for (const server of servers) server.close();
  rmSync(root, { recursive: true });
});

const RESTARTED = { kind: 'restarted', pid: 20, before: 10 };
const REPLY = `${JSON.stringify(RESTARTED)}\n`;

/** A node with a control socket, which answers each request with `reply`. */
async function node(name: string, reply = REPLY): Promise<Server> {
  const directory = join(dataDirectory, 'nodes', name);
  mkdirSync(directory, { recursive: true });
  const server = createServer((socket) => {
    socket.on('error', () => {}).setEncoding('utf8');
    socket.on('data', (text: string) => {
      events.push(`${name} ${text.trim()}`);
      setTimeout(() => {
        events.push(`${name} answers`);
        socket.end(reply);
      }, 5);
    });
  });
  await withControlPath(directory, (path) => {
    return new Promise<void>((done, fail) => server.on('error', fail).listen(path, done));
  });
  servers.push(server);
  return server;
}

const run = (...args: string[]) => runCommands(addNodeCommands, args, undefined, { dataDirectory });

describe('node restart', () => {
  it('restarts all nodes of DATA_DIR, one after another', async () => {
    await node('ams1');
    await node('fra1');
    mkdirSync(join(dataDirectory, 'nodes', 'stopped'));
    expect(await run('node', 'restart')).toEqual({
      code: 0,
      stdout: 'restarted ams1: process 20 replaces 10\nrestarted fra1: process 20 replaces 10\n',
      stderr: '',
    });
    expect(events).toEqual([
      'ams1 {"ask":"restart"}',
      'ams1 answers',
      'fra1 {"ask":"restart"}',
      'fra1 answers',
    ]);
  });

  it('restarts the named nodes once each, and prints JSON', async () => {
    await node('ams1');
    await node('fra1');
    const { code, stdout } = await run('--json', 'node', 'restart', 'fra1', 'fra1');
    expect([code, JSON.parse(stdout)]).toEqual([0, { node: 'fra1', ...RESTARTED }]);
    expect(events).toEqual(['fra1 {"ask":"restart"}', 'fra1 answers']);
  });

  it('works in a directory whose path is longer than the kernel allows', async () => {
    dataDirectory = join(dataDirectory, 'd'.repeat(120));
    await node('ams1');
    expect((await run('node', 'restart')).stdout).toBe('restarted ams1: process 20 replaces 10\n');
  });

  it('exits with 2 if no node runs, and names the setting', async () => {
    for (const prepare of [
      () => {},
      () => mkdirSync(join(dataDirectory, 'nodes', 'x'), { recursive: true }),
    ]) {
      prepare();
      const { code, stdout, stderr } = await run('node', 'restart');
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toBe(
        `zonefleet: no node runs in ${dataDirectory}: set DATA_DIR to the node's directory\n`,
      );
    }
  });

  it('exits with 1 if a named node has no control socket, and restarts the others', async () => {
    await node('ams1');
    const { code, stdout, stderr } = await run('node', 'restart', 'fra1', 'ams1');
    expect([code, stdout]).toEqual([1, 'restarted ams1: process 20 replaces 10\n']);
    expect(stderr).toContain(`fra1: it has no control socket in ${dataDirectory}/nodes or `);
  });

  it.each([
    ['its reason', '{"kind":"failed","reason":"DNS_LISTEN: in use"}\n', /^ams1: DNS_LISTEN: in use\n$/],
    ['no answer', '', /ams1: it ended without a reply/],
    ['a long answer', 'x'.repeat(70_000), /its reply is too long/],
    ['half an answer', '{"kind":"rest', /ams1: it does not respond \(.*JSON/],
  ])('exits with 1 if the restart failed, with %s', async (_, reply, wanted) => {
    await node('ams1', reply);
    const { code, stdout, stderr } = await run('node', 'restart');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(wanted);
    const json = await run('--json', 'node', 'restart');
    expect(JSON.parse(json.stdout)).toEqual({ node: 'ams1', kind: 'failed', reason: expect.any(String) });
  });

  it('exits with 1 if the node hangs', async () => {
    const hanging = await node('ams1', '');
    hanging.removeAllListeners('connection').on('connection', () => events.push('connected'));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const ran = run('node', 'restart');
      await until(() => events.length > 0, 'the command is connected');
      vi.advanceTimersByTime(RESTART_LIMIT_MS + 10_000); // the node would have replied
      vi.advanceTimersByTime(60_000);
      expect(await ran).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('no reply within 11 minutes'),
      });
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([
    [
      'connect to the socket',
      'nodes/ams1/control.sock',
      1,
      /ams1: permission denied: run this command as \S.*, the user that the node runs as/,
    ],
    [
      'enter the directory',
      'nodes/ams1',
      1,
      /ams1: permission denied: run this command as \S.*, the user that the node runs as/,
    ],
    [
      'list the nodes',
      'nodes',
      2,
      /this user may not list \S+nodes: name the nodes, or run this command as root/,
    ],
  ])('names the required user if the current one may not %s', async (_, path, code, wanted) => {
    await node('ams1');
    chmodSync(root, 0o755);
    chmodSync(join(root, path), 0);
    const uid = process.geteuid?.() ?? -1;
    if (uid === 0) process.seteuid?.(60_953); // root may connect to every socket
    try {
      const ran = await run('node', 'restart');
      expect(ran).toEqual({ code, stdout: '', stderr: expect.stringMatching(wanted) });
    } finally {
      if (uid === 0) process.seteuid?.(0);
      chmodSync(join(root, path), 0o700);
    }
  });

  it('skips a killed node, and exits with 1 if it was named', async () => {
    const directory = join(dataDirectory, 'nodes', 'fra1');
    const dead = await node('other');
    mkdirSync(directory);
    // Closing removes only the file's first name.
    linkSync(join(dataDirectory, 'nodes', 'other', 'control.sock'), join(directory, 'control.sock'));
    dead.close();
    expect((await run('node', 'restart')).code).toBe(2);
    await node('ams1');
    expect(await run('node', 'restart')).toMatchObject({
      code: 0,
      stdout: 'restarted ams1: process 20 replaces 10\n',
    });
    expect(await run('node', 'restart', 'fra1')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('fra1: it is not running'),
    });
  });
});
