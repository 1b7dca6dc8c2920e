// `npm start -- --demo` as a visitor finds it: a domain is delegated at the registrar and becomes active by itself, a second
// start goes on, and where it would do harm it does not start.

import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../../support/peers/peers.ts';
import { FreshClone, type StartedClone } from '../../support/processes/fresh-clone.ts';
import { until } from '../../support/tests/until.ts';

const PATIENCE_MS = 180_000;
const OURS = ['ns1.zonefleet.example', 'ns2.zonefleet.example'];
const ELSEWHERE = ['ns1.elsewhere.example', 'ns2.elsewhere.example'];
const KEY = `svc_${'0123456789'.repeat(4)}`;
/** The demo has a root of its own. */
const DEMO = { ROOT_HINTS: '', BOOTSTRAP_API_KEY: KEY };
const isLinux = process.platform === 'linux';

// biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
type Body = any;

describe.skipIf(!isLinux || !isInstalled('npm'))('npm start -- --demo', () => {
  let clone: FreshClone;
  let started: StartedClone;
  let registrar: string;

  beforeAll(async () => {
    clone = await FreshClone.make();
    await start();
  });
  afterAll(() => clone?.remove());

  async function start(): Promise<void> {
    started = clone.start(DEMO, ['--demo']);
    await started.ready();
    registrar = /^ {2}registrar (http:\S+)/m.exec(started.output)?.[1] ?? '';
  }

  async function stop(): Promise<void> {
    started.npm.kill('SIGTERM');
    expect(await started.ended).toBe(0);
    await until(() => clone.processes().length === 0, 'every process has ended', PATIENCE_MS);
  }

  async function api(path: string): Promise<Body> {
    const response = await fetch(`http://${clone.environment.API_LISTEN}${path}`, {
      headers: { authorization: `Bearer ${KEY}` },
    });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return await response.json();
  }
  const look = (name: string) => api(`/domains/${name}`);
  /** At the pace that the API allows its callers. */
  const becomes = (name: string, is: (domain: Body) => boolean, what: string) =>
    until(async () => is(await look(name)) || (await pause(500, false)), `${name} ${what}`, PATIENCE_MS);

  async function delegate(name: string, nameservers: readonly string[]): Promise<void> {
    const response = await fetch(`${registrar}/names/${name}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ nameservers }),
    });
    expect(response.status).toBe(200);
  }

  it('a domain becomes active by itself after its owner has changed the nameservers at the registrar', async () => {
    await becomes('meadow.test', ({ findings }) => findings[0]?.code === 'NOT_REGISTERED', 'is checked');
    expect(await look('meadow.test')).toMatchObject({ status: 'pending', current_ns: [] });
    await delegate('meadow.test', OURS);
    await becomes('meadow.test', ({ status }) => status === 'active', 'is active');
    expect(await look('meadow.test')).toMatchObject({ current_ns: OURS, findings: [] });
    const [run] = await api('/domains/meadow.test/checks?evidence=true&limit=1');
    expect(run).toMatchObject({ kind: 'background', verdict: 'match', parent: 'test' });
    const said = run.evidence.map(({ server, ns }: Body) => [server, ns]);
    expect(said.sort()).toEqual([
      ['a.nic.test', OURS],
      ['b.nic.test', OURS],
    ]);
  });

  it('one has each of the states, with what is wrong', async () => {
    await becomes('harbor.test', ({ findings }) => findings.length > 0, 'is checked');
    const codes = (await look('harbor.test')).findings.map(({ code }: Body) => code);
    expect(codes).toEqual(expect.arrayContaining(['NS_MISSING', 'NS_EXTRA']));
    expect(await look('lantern.test')).toMatchObject({ status: 'unverified', served: 'none' });
    await becomes('orchid.test', ({ status }) => status === 'active', 'is active');
    const changes = await api('/domains/orchid.test/changes');
    expect(changes.filter(({ source }: Body) => source === 'revert')).toHaveLength(1);
    await becomes(
      'willow.test',
      ({ status, dns_mode, served }) =>
        status === 'unverified' && dns_mode === 'external' && served === 'full',
      'leaves, and is served on',
    );
    await becomes(
      'cedar.test',
      ({ findings }) => findings.some(({ code }: Body) => code === 'NS_FOREIGN'),
      'points elsewhere',
    );
  });

  it('the nameserver is asked questions', async () => {
    const metrics = async () =>
      await (await fetch(`http://${clone.environment.METRICS_LISTEN}/metrics`)).text();
    const asked = async () =>
      (await metrics())
        .split('\n')
        .filter((line) => line.startsWith('zonefleet_queries_total'))
        .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    const before = await asked();
    await until(async () => (await asked()) >= before + 5, 'questions come', PATIENCE_MS);
  });

  it('a second start goes on with what there is: domains, and what was entered at the registrar', async () => {
    const names = async () => (await api('/domains/?limit=100')).map(({ name }: Body) => name).sort();
    await delegate('harbor.test', ELSEWHERE);
    const before = await names();
    await stop();
    await start();
    expect(await names()).toEqual(before);
    const { 'harbor.test': harbor, 'meadow.test': meadow } = (await (
      await fetch(`${registrar}/names`)
    ).json()) as Body;
    expect([harbor.nameservers, meadow.nameservers]).toEqual([ELSEWHERE, OURS]);
    await becomes(
      'harbor.test',
      ({ current_ns: ns }) => String(ns) === String(ELSEWHERE),
      'is seen elsewhere',
    );
    expect(await look('meadow.test')).toMatchObject({ status: 'active' });
  });

  it('starts nothing on a database with a domain that may be real, and says which', async () => {
    expect(
      clone.cli('domain', 'create', 'real.dev', '--account', 'admin@localhost', '--no-scan'),
    ).toMatchObject({ status: 0 });
    await stop();
    const again = clone.start(DEMO, ['--demo']);
    expect(await again.ended).toBe(1);
    expect(again.output).toMatch(
      /zonefleet: --demo: this database has domains that may be real \(real\.dev\)/,
    );
    expect(clone.processes()).toEqual([]);
  });

  it('tells an argument and a setting that do not go with it', async () => {
    const unknown = clone.start({}, ['--dmeo']);
    expect(await unknown.ended).toBe(1);
    expect(unknown.output).toContain('zonefleet: "--dmeo" is no argument of npm start');
    const hints = clone.start({}, ['--demo']);
    expect(await hints.ended).toBe(1);
    expect(hints.output).toContain('--demo: expected ROOT_HINTS to be unset');
    expect(clone.processes()).toEqual([]);
  });
});
