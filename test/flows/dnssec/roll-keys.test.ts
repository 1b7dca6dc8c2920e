// The life of a signed domain on real parts: a signed root and TLD on NSD and Knot, our nameserver and API, the job that moves
// keys, and Unbound, which validates every answer from the root down. Days pass on the clock of the job alone.

import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RULES } from '../../../src/checks/dnssec/rules.ts';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { Resolver } from '../../../src/resolver/resolver.ts';
import { disableDnssec, enableDnssec, rollDnssec } from '../../../src/store/dnssec/change-goal.ts';
import { loadDnssec } from '../../../src/store/dnssec/load-dnssec.ts';
import { changeDenial } from '../../../src/store/signing/change-denial.ts';
import { createKeyRoller, type KeyOutcome } from '../../../workers/jobs/roll-keys.ts';
import { openResolver } from '../../../workers/open-resolver.ts';
import { readTrustAnchors } from '../../../workers/root-files.ts';
import { BY } from '../../support/database/domains.ts';
import { SIGNING_SECRETS, useSecrets } from '../../support/database/signed-zones.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import {
  FLEET_SETS,
  NEEDS_PARENT,
  type RealParent,
  startRealParent,
} from '../../support/peers/real-parent.ts';
import { RealFleet } from '../../support/processes/real-fleet.ts';
import { startUnbound } from '../../support/validators/unbound.ts';
import type { Security, ValidatingResolver } from '../../support/validators/validator.ts';

const needs = NEEDS_PARENT || (isInstalled('unbound') ? '' : ' (skipped: needs unbound)');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NAME = 'shop.zz';
const SECURE: readonly Security[] = ['secure', 'secure'];
const INSECURE: readonly Security[] = ['insecure', 'insecure'];

/** A node is heard by the real clock, so the whole story takes less than the 18 days after which it would not count. */
const FAST = { ...RULES, stayMs: DAY_MS };

describe.skipIf(needs !== '')(`a signed domain below a real parent${needs}`, () => {
  let parent: RealParent;
  let fleet: RealFleet;
  let resolver: Resolver;
  let unbound: ValidatingResolver;
  let domainId: number;
  let ahead = 0;
  const closing: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    parent = await startRealParent({}, { isSigned: true });
    closing.push(() => parent.stop());
    const [{ name, secret }] = SIGNING_SECRETS as [(typeof SIGNING_SECRETS)[number]];
    const env = { KEY_SECRETS: `${name}:${secret.toString('base64')}` };
    fleet = await RealFleet.start(parent, { answers: true, env });
    closing.unshift(() => fleet.stop());
    useSecrets(fleet.database.db);
    await createDomain();
    resolver = await openOwnResolver();
    unbound = await startValidator();
    closing.unshift(() => unbound.stop());
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });

  async function createDomain(): Promise<void> {
    expect(await fleet.ask('POST', '/domains/', { name: NAME, scan: false })).toMatchObject({ status: 200 });
    const www = { name: 'www', type: 'A', destination: '198.51.100.7', proxied: false };
    expect(await fleet.ask('POST', `/domains/${NAME}/records/`, www)).toMatchObject({ status: 200 });
    const workers = await fleet.startWorkers();
    await fleet.checksUntil(NAME, ({ verdict }) => verdict === 'unregistered');
    await parent.delegate({ shop: FLEET_SETS[0] });
    await fleet.checksUntil(NAME, ({ status_after }) => status_after === 'active');
    await workers.stop(); // they would move its keys by the true clock
    domainId = (await fleet.get(`/domains/${NAME}`)).id;
  }

  async function openOwnResolver(): Promise<Resolver> {
    const { settings, port } = parent;
    const anchors = await readTrustAnchors({
      trustAnchors: { path: settings.TRUST_ANCHORS as string },
    } as never);
    const opened = await openResolver(
      {
        resolverAllow: ['127.0.0.0/8'],
        rootHints: settings.ROOT_HINTS,
        dnsPortOut: port,
        publicResolvers: [],
        redisUrl: undefined,
      },
      fleet.database.db,
      {
        stopping: new AbortController().signal,
        onStop: (close) => void closing.unshift(close),
        fail: (error) => {
          throw error;
        },
        ready: () => {},
      },
      {
        trustAnchors: () => anchors as readonly Uint8Array[],
        onTrouble: (error) => {
          throw error;
        },
        onRootFault: (message) => {
          throw new Error(message);
        },
      },
    );
    return opened.resolver;
  }

  async function startValidator(): Promise<ValidatingResolver> {
    const text = await readFile(parent.settings.TRUST_ANCHORS as string, 'utf8');
    const root = /A (\S+)/.exec(parent.rootHints.split('\n')[1] as string)?.[1] as string;
    return await startUnbound({ anchors: [text.trim()], reached: { root } } as never, {
      kind: 'strict', // each algorithm of the DS set must sign everything (RFC 4035 §2.2)
      keeps: false,
    });
  }

  async function look(): Promise<KeyOutcome> {
    const outcomes: KeyOutcome[] = [];
    const { db } = fleet.database;
    const onOutcome = (outcome: KeyOutcome) => void outcomes.push(outcome);
    const roll = createKeyRoller({ db, resolver, rules: FAST, onOutcome, ahead: () => ahead });
    const signedZoneId = (await loadDnssec(db, domainId))?.signed.id as number;
    await roll({ signedZoneId }, { signal: new AbortController().signal, again: false });
    return outcomes[0] as KeyOutcome;
  }

  /** A name that is there, and one that is not, as the validator sees them. */
  async function validated(): Promise<readonly Security[]> {
    await unbound.forget();
    const verdicts = await unbound.ask([
      { name: parseName(`www.${NAME}.`), type: TYPE.A },
      { name: parseName(`nothing.${NAME}.`), type: TYPE.A },
    ]);
    expect(verdicts.map(({ rcode }) => rcode)).toEqual(['NOERROR', 'NXDOMAIN']);
    return verdicts.map(({ security }) => security);
  }

  /** Six hours at a time, until the status and the cause of the wait are these. Every answer on the way is what it shall be. */
  async function passUntil(status: string, cause: string | undefined): Promise<void> {
    const told: string[] = [];
    for (let looks = 0; looks < 120; looks++) {
      const outcome = await look();
      if (outcome.kind !== 'saved') throw new Error(`it is ${outcome.kind}`);
      told.push(
        `${outcome.status} ${outcome.step ?? outcome.waiting?.cause} ${outcome.preflight?.failure ?? ''}`,
      );
      if (outcome.step !== undefined) await validated();
      else if (outcome.status === status && outcome.waiting?.cause === cause) return;
      else if (outcome.waiting?.cause !== 'nodes' && outcome.waiting?.cause !== 'preflight')
        ahead += 6 * HOUR_MS;
    }
    throw new Error(`it does not come to ${status}: ${told.join('; ')}`);
  }

  /** The DS that the API would show. */
  async function askedDs(): Promise<string> {
    const machine = (await loadDnssec(fleet.database.db, domainId))?.machine;
    const key = machine?.keys.find(({ id }) => machine.asked.includes(id));
    return key?.ds.find((text) => text.split(' ')[2] === '2') as string;
  }

  const order = () => ({ ...BY, domainId });

  test('goes from off to secure, to another key, to NSEC3, to another algorithm, and back to off, and no answer is ever bogus', async () => {
    const { db } = fleet.database;
    expect(await validated()).toEqual(INSECURE);
    expect((await enableDnssec(db, order())).kind).toBe('updated');
    await passUntil('ds_wanted', 'ds_wanted');
    expect(await validated()).toEqual(INSECURE);

    await parent.showDs('shop', await askedDs());
    await passUntil('secure', undefined);
    expect(await validated()).toEqual(SECURE);

    expect((await rollDnssec(db, { ...order(), compromised: false })).kind).toBe('updated');
    await passUntil('rolling', 'ds_wanted');
    expect(await validated()).toEqual(SECURE);
    await parent.showDs('shop', await askedDs());
    await passUntil('secure', undefined);
    expect(await validated()).toEqual(SECURE);

    expect((await changeDenial(db, { domainId }, { ...BY, denial: 'nsec3' })).kind).toBe('updated');
    await passUntil('secure', undefined);
    expect(await validated()).toEqual(SECURE);

    const other = { ...order(), compromised: false, algorithm: 15 } as const;
    expect((await rollDnssec(db, other)).kind).toBe('updated');
    await passUntil('rolling', 'ds_wanted');
    expect(await validated()).toEqual(SECURE);
    await parent.showDs('shop', await askedDs());
    await passUntil('secure', undefined);
    expect(await askedDs()).toMatch(/^\d+ 15 2 /);
    expect(await validated()).toEqual(SECURE);

    expect((await disableDnssec(db, order())).kind).toBe('updated');
    await passUntil('ds_removal', 'ds_unwanted');
    expect(await validated()).toEqual(SECURE);
    await parent.showDs('shop', undefined);
    await passUntil('off', undefined);
    expect(await validated()).toEqual(INSECURE);
  });
});
