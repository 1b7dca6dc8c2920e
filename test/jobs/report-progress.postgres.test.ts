import { expect, it } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { reportProgress } from '../../src/jobs/report-progress.ts';
import { listenChanges } from '../../src/store/postgres/listen-changes.ts';
import { keptDatabase } from '../support/tests/shared-database.ts';
import { until } from '../support/tests/until.ts';
import { evidenceOf } from '../support/world/made-checks.ts';

const { db, url } = keptDatabase();

it('sends the newest step, at a limited rate and size, and nothing after the end', async () => {
  const heard: string[] = [];
  let isListening = false;
  const listening = listenChanges(url, {
    applicationName: 'test',
    onChange: () => {
      isListening = true;
    },
    onProgress: (text) => heard.push(text),
  });
  await until(() => isListening);
  await until(async () => {
    reportProgress(db, 1).step({ walk: [], servers: [] });
    return heard.length > 0;
  });
  heard.length = 0;

  const { walk, servers } = evidenceOf(parseName('shop.example.'), ['ns1.example.net.']);
  const progress = reportProgress(db, 71);
  for (let i = 0; i < 500; i++) progress.step({ walk, servers: servers.slice(0, 1) });
  progress.step({ walk, servers });
  const of71 = () => heard.map((text) => JSON.parse(text)).filter(({ domain_id: id }) => id === 71);
  await until(() => of71().length === 2);
  expect(of71()[1]).toEqual({
    domain_id: 71,
    walk: [
      { zone: '.', servers: 1, cached: true },
      { zone: 'example', servers: 2, cached: false },
    ],
    servers: [
      { server: 'a.nic.test', address: '192.0.2.53', outcome: 'referral', rtt_ms: 12 },
      { server: 'b.nic.test', address: '192.0.2.54', outcome: 'referral', rtt_ms: 12 },
    ],
  });
  progress.step({ walk, servers: [] });
  progress.step({ walk: [], servers: [] });
  progress.end();
  const long = parseName(`${'\\001'.repeat(60)}.${'\\001'.repeat(60)}.${'\\001'.repeat(60)}.test.`);
  reportProgress(db, 72).step({
    walk: [],
    servers: servers.flatMap((each) => Array.from({ length: 8 }, () => ({ ...each, server: long }))),
  });
  reportProgress(db, 73).step({ walk: [], servers: [] });
  await until(() => heard.some((text) => JSON.parse(text).domain_id === 73));
  expect(of71().length).toBeLessThanOrEqual(3);
  expect(of71().some((told) => told.walk.length === 0)).toBe(false);
  expect(heard.some((text) => JSON.parse(text).domain_id === 72)).toBe(false);
  await listening.stop();
});
