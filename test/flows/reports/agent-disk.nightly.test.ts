// docs/edge-agent whose disk is full: nginx goes on answering, and what comes when there is room again is told once.

import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lacksSmallDisk } from '../../support/database/small-disk.ts';
import { askEdge } from '../../support/edge/ask-edge.ts';
import { madeConfig, madeHost, madeOrigin } from '../../support/edge/made-config.ts';
import { type AgentProcess, startAgent } from '../../support/edge/nginx/agent-process.ts';
import { hasNginx, stopNginx } from '../../support/edge/nginx/served-nginx.ts';
import { type StandInApi, startStandInApi } from '../../support/edge/nginx/stand-in-api.ts';
import { startOrigin, type TestOrigin } from '../../support/edge/origin/test-origin.ts';
import { until } from '../../support/tests/until.ts';

const lacks = hasNginx ? lacksSmallDisk() : 'nginx';
const note = lacks === undefined ? '' : ` (skipped: needs ${lacks})`;
const VISITS = 200;

describe.skipIf(lacks !== undefined)(`a full disk${note}`, () => {
  let api: StandInApi;
  let origin: TestOrigin;
  let agent: AgentProcess;
  let disk = '';
  const ballast = () => join(disk, 'ballast');

  beforeAll(async () => {
    origin = await startOrigin('main', '127.0.0.1');
    api = await startStandInApi(() => 'none');
    const place = madeOrigin({ destination: '127.0.0.1', port: origin.port });
    api.tell(madeConfig('shop.example', { hosts: [madeHost('www.shop.example', place)] }));
    agent = await startAgent({ api: api.url, token: 'x', allowOrigins: ['127.0.0.0/8'] });
    await until(async () => (await visit('/begin')) === 200, agent.log);
    await agent.kill();
    await stopNginx(agent.state);
    disk = join(agent.state, 'reports');
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=755', 'none', disk]);
    await agent.restart();
  });
  afterAll(async () => {
    await agent?.kill('SIGKILL');
    if (disk !== '') execFileSync('umount', ['-l', disk]);
    await agent?.stop();
    await api?.stop();
    await origin?.stop();
  });

  const visit = async (path: string) => (await askEdge(agent, `http://www.shop.example${path}`)).status;
  const visitAll = async (start: string) => {
    for (let i = 0; i < VISITS; i++) expect(await visit(`${start}/${i}?${'x'.repeat(1_000)}`)).toBe(200);
  };
  const toldOf = (start: string) =>
    api
      .lines()
      .map(({ uri }) => String(uri))
      .filter((uri) => uri.startsWith(`${start}/`));
  const fill = () => {
    for (const octets of [65_536, 4_096]) {
      try {
        for (;;) writeFileSync(ballast(), Buffer.alloc(octets), { flag: 'a' });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
  };
  /** nginx writes nothing for a second after its disk was full. */
  const makeRoom = async (start: string) => {
    rmSync(ballast());
    await until(async () => {
      await visit(`${start}/`);
      return toldOf(start).length > 0;
    }, agent.log);
  };
  const showOnce = async (start: string) => {
    await until(
      () => toldOf(start).length >= VISITS,
      () => `${toldOf(start).length}; ${agent.log()}`,
    );
    expect([toldOf(start).length, new Set(toldOf(start)).size]).toEqual([VISITS, VISITS]);
  };

  it('stops neither visitors nor an agent that runs', async () => {
    await visitAll('/before');
    await showOnce('/before');
    fill();
    await visitAll('/full');
    await makeRoom('/room');
    await visitAll('/after');
    await showOnce('/after');
    expect(new Set(toldOf('/full')).size).toBe(toldOf('/full').length);
  });

  it('while the agent is stopped loses lines, none twice, and the next agent goes on', async () => {
    await agent.kill('SIGKILL');
    fill();
    await visitAll('/stopped');
    await agent.restart();
    await makeRoom('/again-room');
    await visitAll('/again');
    await showOnce('/again');
    expect(toldOf('/stopped').length).toBeLessThan(VISITS);
    expect(new Set(toldOf('/stopped')).size).toBe(toldOf('/stopped').length);
  });
});
