// A domain of a real fleet below a signed root and TLD, with the job that manages its keys, and Unbound, which validates
// every answer from the root down. Time passes only on the job's clock.

import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { RULES } from '../../../src/checks/dnssec/rules.ts';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { loadDnssec } from '../../../src/store/dnssec/dnssec-state.ts';
import { createKeyRoller, type KeyOutcome } from '../../../workers/jobs/roll-keys.ts';
import { openResolver } from '../../../workers/open-resolver.ts';
import { readTrustAnchors } from '../../../workers/root-files.ts';
import { checkOnce } from '../database/saved-checks.ts';
import { SIGNING_SECRETS, useSecrets } from '../database/signed-zones.ts';
import { FLEET_SETS, type RealParent, startRealParent } from '../peers/real-parent.ts';
import { type RealFleet, startRealFleet } from '../processes/real-fleet.ts';
import { startUnbound } from './unbound.ts';
import type { Security, ValidatingResolver } from './validator.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const SECURE: readonly Security[] = ['secure', 'secure'];
export const INSECURE: readonly Security[] = ['insecure', 'insecure'];

/** Nodes report by the real clock, which does not advance with the job's clock. */
const FAST = { ...RULES, stayMs: DAY_MS, silentNodeMs: 90 * DAY_MS };

type Closing = (() => Promise<unknown>)[];

export type SignedFleet = Awaited<ReturnType<typeof startAll>>;

/** `label` is a domain below `zz` with an address at `www`. `isActive` false: it is not activated. */
export async function startSignedFleet(label: string, { isActive = true } = {}): Promise<SignedFleet> {
  const closing: Closing = [];
  try {
    return await startAll(label, isActive, closing);
  } catch (error) {
    for (const close of closing) await close();
    throw error;
  }
}

async function startAll(label: string, isActive: boolean, closing: Closing) {
  const name = `${label}.zz`;
  const parent = await startRealParent({}, { isSigned: true });
  closing.push(() => parent.stop());
  const [{ name: keyName, secret }] = SIGNING_SECRETS as [(typeof SIGNING_SECRETS)[number]];
  const env = { KEY_SECRETS: `${keyName}:${secret.toString('base64')}` };
  const fleet = await startRealFleet(parent, env);
  closing.unshift(() => fleet.stop());
  useSecrets(fleet.database.db);
  expect(await fleet.ask('POST', '/domains/', { name, scan: false })).toMatchObject({ status: 200 });
  const www = { name: 'www', type: 'A', destination: '198.51.100.7', proxied: false };
  expect(await fleet.ask('POST', `/domains/${name}/records/`, www)).toMatchObject({ status: 200 });
  if (isActive) {
    const workers = await fleet.startWorkers();
    await fleet.checksUntil(name, ({ verdict }) => verdict === 'unregistered');
    await parent.delegate({ [label]: FLEET_SETS[0] });
    await fleet.checksUntil(name, ({ status_after }) => status_after === 'active');
    await workers.stop(); // they would change its keys by the real clock
  }
  const domainId = (await fleet.get(`/domains/${name}`)).id;
  const resolver = await openOwnResolver(parent, fleet, closing);
  const space = { anchors: [await anchorOf(parent)], reached: { root: rootOf(parent) } };
  // each algorithm of the DS set must sign everything (RFC 4035 §2.2)
  const unbound = await startUnbound(space, { kind: 'strict', keeps: false });
  closing.unshift(() => unbound.stop());
  const { db } = fleet.database;
  let ahead = 0;

  const look = async (): Promise<KeyOutcome> => {
    const outcomes: KeyOutcome[] = [];
    const onOutcome = (outcome: KeyOutcome) => void outcomes.push(outcome);
    const roll = createKeyRoller({ db, resolver, rules: FAST, onOutcome, ahead: () => ahead });
    const signedZoneId = (await loadDnssec(db, domainId))?.signed.id as number;
    await roll({ signedZoneId }, { signal: new AbortController().signal, again: false });
    return outcomes[0] as KeyOutcome;
  };
  /** An existing and a nonexistent name, as the validator sees them. */
  const validated = async (by: ValidatingResolver = unbound): Promise<readonly Security[]> => {
    await by.forget();
    const verdicts = await by.ask([
      { name: parseName(`www.${name}.`), type: TYPE.A },
      { name: parseName(`nothing.${name}.`), type: TYPE.A },
    ]);
    expect(verdicts.map(({ rcode }) => rcode)).toEqual(['NOERROR', 'NXDOMAIN']);
    return verdicts.map(({ security }) => security);
  };

  return {
    parent,
    fleet,
    name,
    unbound,
    domainId,
    look,
    validated,
    async stop(): Promise<void> {
      for (const close of closing) await close();
    },
    /**
     * Advances six hours at a time until the status and the cause of the wait match. Every answer meanwhile must be as
     * expected.
     */
    async passUntil(status: string, cause: string | undefined): Promise<void> {
      const told: string[] = [];
      for (let looks = 0; looks < 120; looks++) {
        const outcome = await look();
        if (outcome.kind === 'absent') throw new Error('it is absent');
        if (outcome.kind !== 'saved') continue;
        const { step, waiting, preflight } = outcome;
        told.push(`${outcome.status} ${step ?? waiting?.cause} ${preflight?.failure ?? ''}`);
        if (step !== undefined) await validated();
        else if (outcome.status === status && waiting?.cause === cause) return;
        else if (waiting?.cause !== 'nodes' && waiting?.cause !== 'preflight') ahead += 6 * HOUR_MS;
      }
      throw new Error(`it does not come to ${status}: ${told.join('; ')}`);
    },
    /** Records a check that saw these servers at the parent, at the job's time. */
    async checked(...names: readonly string[]): Promise<void> {
      await checkOnce(db, domainId, `referral ${names.join(' ')}`);
      await sql`
        update check_runs set started_at = started_at + make_interval(secs => ${ahead / 1000}::float8),
          finished_at = finished_at + make_interval(secs => ${ahead / 1000}::float8)
        where id = (select max(id) from check_runs where domain_id = ${domainId})`.execute(db);
    },
    /** A validator that takes the domain's answers from one address, regardless of the parent. */
    async validatorOf(address: string): Promise<ValidatingResolver> {
      const stubs = [
        { zone: '.', address: rootOf(parent), port: 53 },
        { zone: `${name}.`, address, port: 53 },
      ];
      return await startUnbound({ anchors: [await anchorOf(parent)], reached: { stubs } }, { keeps: false });
    },
    /** Another validator, which starts at the root and has a cache. */
    async validatorOfParent(): Promise<ValidatingResolver> {
      return await startUnbound({ anchors: [await anchorOf(parent)], reached: { root: rootOf(parent) } });
    },
    async askedDs(): Promise<string> {
      const machine = (await loadDnssec(db, domainId))?.machine;
      const key = machine?.keys.find(({ id, isForeign }) => machine.asked.includes(id) && isForeign !== true);
      return key?.ds.find((text) => text.split(' ')[2] === '2') as string;
    },
  };
}

async function openOwnResolver({ settings, port }: RealParent, fleet: RealFleet, closing: Closing) {
  const anchors = await readTrustAnchors({
    trustAnchors: { path: settings.TRUST_ANCHORS as string },
  } as never);
  const rethrow = (error: unknown) => {
    throw error;
  };
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
      onHangup: () => {},
      fail: rethrow,
      end: () => {},
      ready: () => {},
    },
    {
      trustAnchors: () => anchors as readonly Uint8Array[],
      onTrouble: rethrow,
      onRootFault: (message) => rethrow(new Error(message)),
    },
  );
  return opened.resolver;
}

async function anchorOf({ settings }: RealParent): Promise<string> {
  return (await readFile(settings.TRUST_ANCHORS as string, 'utf8')).trim();
}

function rootOf({ rootHints }: RealParent): string {
  return /A (\S+)/.exec(rootHints.split('\n')[1] as string)?.[1] as string;
}
