// docs/edge-agent with a real nginx and visitors who do not wait: the agent is killed again and again, nginx reads its files anew, is told
// to open its logs anew, ends and begins, and the API loses what it is told. Each visit is told once.

import { statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askEdge } from '../../support/edge/ask-edge.ts';
import { madeConfig, madeHost, madeOrigin } from '../../support/edge/made-config.ts';
import { type AgentProcess, startAgent } from '../../support/edge/nginx/agent-process.ts';
import { hasNginx, stopNginx } from '../../support/edge/nginx/served-nginx.ts';
import { type StandInApi, startStandInApi, type Trouble } from '../../support/edge/nginx/stand-in-api.ts';
import { until } from '../../support/tests/until.ts';

const KILLS = 21;
const VISITORS = 4;
/** Longer than it takes to read files anew, so that a worker of before still answers it. */
const SLOW_MS = 2_500;
const TROUBLES: readonly Trouble[] = [
  'none',
  'cut off before it is taken',
  'none',
  'refused',
  'cut off when it is taken',
];

describe.skipIf(!hasNginx)('an agent that is killed again and again', () => {
  let api: StandInApi;
  let origin: Server;
  let agent: AgentProcess;
  /** Alive for as long as visitors come. */
  let isOpen = true;
  const answered: string[] = [];
  const broken: string[] = [];

  const config = (redirects = 0) =>
    madeConfig('shop.example', {
      hosts: [
        madeHost(
          'www.shop.example',
          madeOrigin({ destination: '127.0.0.1', port: (origin.address() as AddressInfo).port }),
        ),
        madeHost(`h${redirects}.shop.example`, madeOrigin({ destination: '127.0.0.1', port: 9 })),
      ],
    });
  const master = () => agent.master() ?? 0;

  beforeAll(async () => {
    origin = createServer((request, response) => {
      setTimeout(() => response.end('x'), request.url?.startsWith('/slow') ? SLOW_MS : 0);
    });
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    api = await startStandInApi((call) => TROUBLES[call % TROUBLES.length] ?? 'none');
    api.tell(config());
    agent = await startAgent({ api: api.url, token: 'x', allowOrigins: ['127.0.0.0/8'], user: 'www-data' });
    const isServed = async () =>
      (await askEdge(agent, 'http://www.shop.example/begin')).status === 200 || undefined;
    await until(isServed, agent.log);
  });
  afterAll(async () => {
    isOpen = false;
    await agent?.stop();
    await api?.stop();
    origin?.closeAllConnections();
    origin?.close();
  });

  async function visit(who: number, path: string) {
    for (let count = 0; isOpen; count++) {
      const uri = `${path}/${who}/${count}`;
      await askEdge(agent, `http://www.shop.example${uri}`).then(
        () => answered.push(uri),
        () => broken.push(uri),
      );
      await pause(2);
    }
  }

  /** What happens to nginx meanwhile. */
  const troubles: readonly ((round: number) => Promise<void> | void)[] = [
    () => undefined,
    (round) => api.tell(config(round)),
    () => void process.kill(master(), 'SIGUSR1'),
    () => void process.kill(master(), 'SIGHUP'),
  ];

  it('loses nothing and doubles nothing, and leaves nothing', async () => {
    const visitors = [
      ...Array.from({ length: VISITORS }, (_, who) => visit(who, '/v')),
      ...Array.from({ length: VISITORS }, (_, who) => visit(who, '/slow')),
    ];
    for (let round = 0; round < KILLS; round++) {
      await pause(Math.random() * 1_200);
      await troubles[round % troubles.length]?.(round);
      await pause(Math.random() * 100);
      await agent.kill('SIGKILL');
      if (round % 7 === 6) await stopNginx(agent.state, 'SIGQUIT');
      await agent.restart();
    }
    isOpen = false;
    await Promise.all(visitors);
    const linesOf = () =>
      api
        .lines()
        .map(({ uri }) => String(uri))
        .filter((uri) => uri !== '/begin');
    await until(
      () => linesOf().length >= answered.length,
      () => `${linesOf().length} of ${answered.length}; ${agent.log()}`,
      60_000,
    );
    const times = new Map<string, number>();
    for (const uri of linesOf()) times.set(uri, (times.get(uri) ?? 0) + 1);
    expect(api.changed).toEqual([]);
    expect(answered.filter((uri) => times.get(uri) !== 1)).toEqual([]);
    expect([...times].filter(([uri, count]) => count !== 1 || !/^\/(v|slow)\//.test(uri))).toEqual([]);
    expect(answered.length).toBeGreaterThan(KILLS * VISITORS);
    expect(answered.some((uri) => uri.startsWith('/slow'))).toBe(true);
    expect(agent.log()).not.toContain('are not reported');
  }, 300_000);

  it('leaves logs that other users of the machine cannot read', () => {
    for (const folder of ['reports', 'logs'])
      expect(statSync(join(agent.state, folder)).mode & 0o027).toBe(0);
  });

  it('is not joined by another on the same folder', async () => {
    expect(await agent.rival()).toMatch(/another agent has/);
  });
});
