// Postgres and all that signs are away for a week: a nameserver answers its signed zones on, restarted from its snapshots by a
// kill on the way, and Unbound validates every name from a private root down. Unbound's clock and the nameserver's are as many
// days ahead. Afterwards signatures are made anew, the nearest end first.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isWithin, type Name, prependLabel } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { migrate } from '../../../src/store/migrate/migrate.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { claimDueRefreshes, endLease } from '../../../src/store/signing/claim-due-zones.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { type SigningOutcome, signZones } from '../../../workers/rounds/sign-zones.ts';
import { SigningBreaker } from '../../../workers/rounds/signing-breaker.ts';
import { createDatabase, TEST_SETTINGS, type TestDatabase } from '../../support/database/database.ts';
import { atLater } from '../../support/database/database-clock.ts';
import { newAccount } from '../../support/database/domains.ts';
import { newSignedDomain, type SignedDomain, unsignedZone } from '../../support/database/signed-domains.ts';
import { useSecrets } from '../../support/database/signed-zones.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { type NodeProcess, startNode } from '../../support/processes/nodes.ts';
import { startProxy, type TcpProxy } from '../../support/processes/tcp-proxy.ts';
import { scale } from '../../support/tests/scale.ts';
import { until } from '../../support/tests/until.ts';
import { unexpected } from '../../support/validators/judge-verdicts.ts';
import { resolveByHand } from '../../support/validators/resolve-by-hand.ts';
import {
  canListenOn53,
  chooseNetwork,
  type SignedWorld,
  startSignedWorld,
  subjectName,
  TLDS,
} from '../../support/validators/signed-world.ts';
import { startUnbound } from '../../support/validators/unbound.ts';
import type { ExpectedVerdict, Verdict } from '../../support/validators/validator.ts';
import { zonesOf } from '../../support/zone/zone-text.ts';

const programs = ['unbound', 'nsd', 'dnssec-signzone'].filter((program) => !isInstalled(program));
const missing = (await canListenOn53())
  ? programs.length === 0
    ? ''
    : ` (skipped: needs ${programs.join(', ')})`
  : ' (skipped: needs port 53 of loopback)';

const DOMAINS = scale(200, 8);
const TYPES = [TYPE.A, TYPE.AAAA, TYPE.TXT, TYPE.MX, TYPE.NS, TYPE.SOA, TYPE.DNSKEY, TYPE.DS, TYPE.CNAME];
const DAY_SECONDS = 86_400;
/** Signatures are made anew after five to seven days: at the worst moment for an outage, none has been yet. */
const DAYS_BEFORE = 5;
const ORDERS = [
  { denial: 'nsec', algorithm: 13, split: false },
  { denial: 'nsec3', algorithm: 13, split: false },
  { denial: 'nsec', algorithm: 15, split: true },
  { denial: 'nsec3', algorithm: 15, split: true },
] as const;

describe.skipIf(missing !== '')(`signed zones while Postgres is away${missing}`, () => {
  const network = chooseNetwork();
  const directory = mkdtempSync(join(tmpdir(), 'zonefleet-away-'));
  let database: TestDatabase;
  let proxy: TcpProxy;
  let domains: SignedDomain[];
  let questions: ExpectedVerdict[];
  let world: SignedWorld;
  let node: NodeProcess;

  beforeAll(async () => {
    database = await createDatabase();
    const { db } = database;
    useSecrets(db);
    await migrate(db, {
      ...TEST_SETTINGS,
      nameserverSets: [TLDS.map((tld) => subjectName(tld).slice(0, -1))],
    });
    const accountId = await newAccount(db, 'ann@example.org');
    const past = await atLater(database, -DAYS_BEFORE);
    useSecrets(past);
    domains = [];
    for (let i = 0; i < DOMAINS; i++) {
      const apex = `d${i}.${TLDS[i % TLDS.length]}`;
      domains.push(await newSignedDomain(past, accountId, apex, ORDERS[(i >> 1) % ORDERS.length]));
    }
    await past.destroy();
    await drawQuestions();
    world = await startSignedWorld(
      network,
      domains.map(({ apex, ds }) => ({ apex, ds, text: '' })),
      [],
    );
    proxy = await startProxy(database.url);
    node = await start(0);
    await until(() => node.log().includes('snapshot written'), 'a snapshot');
  });

  afterAll(async () => {
    await node?.stop();
    await world?.stop();
    await proxy?.stop();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  async function drawQuestions(): Promise<void> {
    questions = allQuestions(await Promise.all(domains.map(({ apex }) => unsignedZone(database.db, apex))));
  }

  function start(daysAhead: number): Promise<NodeProcess> {
    const preload = new URL('../../support/processes/ahead-clock.mjs', import.meta.url);
    return startNode('ns1', {
      DATABASE_URL: proxy.url,
      DATA_DIR: directory,
      DNS_LISTEN: `${network.subject}:53`,
      NODE_OPTIONS: `--import ${preload.href}`,
      CLOCK_AHEAD_MS: String(daysAhead * DAY_SECONDS * 1000),
    });
  }

  async function restart(daysAhead: number): Promise<void> {
    await node.stop('SIGKILL');
    node = await start(daysAhead);
    expect(node.log()).toContain('zones read from the snapshot');
    const [, writtenAt] = /"time":"?([^",]+)/.exec(node.log()) as RegExpExecArray;
    const now = new Date(Number(writtenAt) || (writtenAt as string)).getTime();
    expect(Math.round((now - Date.now()) / 1000 / DAY_SECONDS)).toBe(daysAhead);
  }

  /** What Unbound makes of every name so many days from now. */
  async function verdicts(days: number): Promise<{ wrong: string[]; told: Verdict[] }> {
    const at = Math.floor(Date.now() / 1000) + Math.round(days * DAY_SECONDS);
    const unbound = await startUnbound(world.space, { keeps: false, at });
    try {
      const asked = questions.filter((question) => unbound.judges?.(question) ?? true);
      const told = await unbound.ask(asked);
      return { told, wrong: unexpected(unbound, asked, told).map((line) => `day ${days}: ${line}`) };
    } finally {
      await unbound.stop();
    }
  }

  async function expectSecure(days: number): Promise<void> {
    const { wrong, told } = await verdicts(days);
    expect(wrong.slice(0, 20)).toEqual([]);
    expect(told.filter(({ security }) => security === 'secure').length).toBeGreaterThan(40 * DOMAINS);
  }

  test('every name is secure on day 0, 3 and 7, after restarts too', async () => {
    await expectSecure(0);
    proxy.cut();
    await expectSecure(3);
    await restart(3);
    await expectSecure(3);
    await expectSecure(7);
    await restart(7);
    await expectSecure(7);
    await expectSecure(8);
  });

  test('every name is bogus on day 17, when all signatures have ended', async () => {
    const { told } = await verdicts(17);
    expect(new Set(told.map(({ security }) => security))).toEqual(new Set(['bogus']));
  });

  test('when Postgres is back, signatures are made anew, the nearest end first, and the node has them', async () => {
    const db = await atLater(database, 8);
    useSecrets(db);
    try {
      await expectNearestFirst(db);
      const outcomes = await refreshAll(db);
      expect(outcomes.map(({ kind }) => kind)).toEqual(domains.map(() => 'refreshed'));
    } finally {
      await db.destroy();
    }
    expect((await verdicts(17)).told.some(({ security }) => security === 'secure')).toBe(false);
    proxy.resume();
    await drawQuestions(); // the serials are others
    let wrong: readonly string[] = [];
    await until(
      async () => {
        wrong = (await verdicts(17)).wrong;
        return wrong.length === 0;
      },
      () => `every name is secure again: ${wrong.slice(0, 5).join('; ')}`,
    );
    await expectSecure(21);
  });

  async function expectNearestFirst(db: Database): Promise<void> {
    const byEnd = await db.selectFrom('signed_zones').select('id').orderBy('expires_at').execute();
    const claimed = await claimDueRefreshes(db, 5);
    expect(claimed.map(({ id }) => id)).toEqual(byEnd.slice(0, 5).map(({ id }) => id));
    for (const { id } of claimed) await endLease(db, id);
  }

  async function refreshAll(db: Database): Promise<SigningOutcome[]> {
    const outcomes: SigningOutcome[] = [];
    const fail = (error: unknown) => {
      throw error;
    };
    const breaker = new SigningBreaker({ db, onFault: fail, onOpen: () => fail('open'), onTrouble: fail });
    const rounds = signZones({
      db,
      breaker,
      onOutcome: (outcome) => outcomes.push(outcome),
      onTrouble: fail,
      idleMs: 5,
    });
    try {
      await until(() => outcomes.length >= DOMAINS, 'all zones are refreshed');
    } finally {
      await rounds.stop();
    }
    return outcomes;
  }
});

/** For every name that is there and its neighbours that are not. */
function allQuestions(zones: readonly Zone[]): ExpectedVerdict[] {
  const all = zonesOf(...zones);
  return zones.flatMap(({ apex, nodes }) =>
    [...nodes.keys()]
      .filter((name) => isWithin(name, apex))
      .flatMap((name) => [name, prependLabel('nothing', name) as Name])
      .flatMap((name) => TYPES.map((type) => resolveByHand(all, name, type)))
      .filter((question) => question !== undefined),
  );
}
