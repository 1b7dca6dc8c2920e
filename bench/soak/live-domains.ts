// Brings domains to life as customers do: delegated at the parent, created, activated by a check, signed. The fixed
// domains of the soak stay; others are deleted again, one after another.

import { setTimeout as pause } from 'node:timers/promises';
import type { DnskeyAnswer } from 'dns-packet';
import { sql } from 'kysely';
import { keyTag } from '../../src/dns/dnssec/key-tag.ts';
import { parseName } from '../../src/dns/name.ts';
import { printRdata } from '../../src/dns/record/rdata.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { dsOf } from '../../test/support/dnssec/signing.ts';
import { type Fleet, NAMESERVERS, NODES } from './fleet.ts';
import type { FleetState, SoakDomain } from './fleet-state.ts';
import type { Journal } from './journal.ts';

/** Includes the longest fault and its recovery. */
const STEP_LIMIT_MS = 300_000;
const PAUSE_MS = 500;
/** Resolvers may have the DS records this long after they were removed. */
const DS_TTL_MS = 35_000;
const KSK_FLAGS = 257;

interface Life {
  readonly fleet: Fleet;
  readonly signal: AbortSignal;
}

/** Creates the fixed domains, which the parent already delegates, waits until checks have activated them, and signs those that are to be signed. */
export async function prepareDomains(life: Life, domains: readonly SoakDomain[]): Promise<void> {
  const { parent } = life.fleet;
  for (const { label } of domains) await create(life, label);
  for (const { label } of domains) await untilActive(life, label);
  const signed = domains.filter(({ isSigned }) => isSigned);
  for (const { label } of signed) await sign(life, label);
  for (const domain of signed) domain.ds = await readDs(life, domain.label);
  await parent.showAllDs(Object.fromEntries(signed.map(({ label, ds }) => [label, ds ? [ds] : []])));
}

/** Lets one domain after another live and be deleted, until the signal. */
export async function passLives(
  life: Life,
  state: FleetState,
  journal: Journal,
  pauseMs: number,
): Promise<void> {
  const { signal } = life;
  while (!signal.aborted) {
    const label = `life${state.lives++}`;
    try {
      await passLife(life, label);
      journal.event('life', `${label} was created, delegated, signed and deleted`);
    } catch (error) {
      if (!signal.aborted) journal.event('stuck', `${label}: ${(error as Error).message}`);
    }
    await pause(pauseMs, undefined, { signal }).catch(() => {});
  }
}

async function passLife(life: Life, label: string): Promise<void> {
  const { fleet, signal } = life;
  const name = `www.${label}.zz`;
  await fleet.parent.delegate({ [label]: NAMESERVERS });
  await create(life, label);
  await call(life, 'POST', `/domains/${label}.zz/records/`, {
    name: 'www',
    type: 'TXT',
    destination: label,
    proxied: false,
  });
  await untilActive(life, label);
  const resolves = async (isSecure: boolean) => {
    const reply = await fleet.resolver.ask({ name, type: 'TXT' }, { tries: 3, timeoutMs: 5000 });
    return reply?.rcode === 'NOERROR' && reply.answers.length > 0 && reply.isSecure === isSecure;
  };
  await until(life, `${name} resolves`, () => resolves(false));
  await sign(life, label);
  await fleet.parent.showDs(label, await readDs(life, label));
  await until(life, `${name} validates`, () => resolves(true));
  await fleet.parent.showDs(label);
  await pause(DS_TTL_MS, undefined, { signal });
  await fleet.parent.delegate({ [label]: [] });
  await call(life, 'DELETE', `/domains/${label}.zz`);
  await untilAllNodes(life, `no node answers ${name}`, name, (rcode) => rcode === 'REFUSED');
}

async function create(life: Life, label: string): Promise<void> {
  await call(life, 'POST', '/domains/', { name: `${label}.zz`, scan: false });
}

async function untilActive(life: Life, label: string): Promise<void> {
  await until(life, `${label}.zz is active`, async () => {
    const { rows } = await sql<{ status: string }>`
      select status from domains where deleted_at is null and unicode = ${`${label}.zz`}`.execute(
      life.fleet.db,
    );
    return rows[0]?.status === 'active';
  });
}

async function sign(life: Life, label: string): Promise<void> {
  await call(life, 'POST', `/domains/${label}.zz/dnssec/enable`);
  await untilAllNodes(life, `every node serves the keys of ${label}.zz`, `${label}.zz`, (rcode, answers) => {
    return rcode === 'NOERROR' && answers > 0;
  });
}

async function readDs({ fleet }: Life, label: string): Promise<string | undefined> {
  const reply = await fleet.askers.ns1.ask(
    { name: `${label}.zz`, type: 'DNSKEY' },
    { tries: 5, timeoutMs: 5000 },
  );
  const keys = (reply?.answers ?? []).filter((answer): answer is DnskeyAnswer => answer.type === 'DNSKEY');
  const key = keys.find(({ data }) => data.flags === KSK_FLAGS);
  if (key === undefined) return undefined;
  const { flags, algorithm, key: publicKey } = key.data;
  const rdata = Uint8Array.from([flags >> 8, flags & 255, 3, algorithm, ...publicKey]);
  return printRdata(TYPE.DS, dsOf(parseName(`${label}.zz.`), { rdata, algorithm, tag: keyTag(rdata) }));
}

async function untilAllNodes(
  life: Life,
  what: string,
  name: string,
  isRight: (rcode: string, answers: number) => boolean,
): Promise<void> {
  for (const node of NODES)
    await until(life, `${what} (${node})`, async () => {
      const type = name.startsWith('www.') ? 'TXT' : 'DNSKEY';
      const reply = await life.fleet.askers[node].ask({ name, type }, { tries: 1, timeoutMs: 2000 });
      return reply !== undefined && isRight(reply.rcode, reply.answers.length);
    });
}

async function call(life: Life, method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<void> {
  const reply = await life.fleet.owner.call({ method, path, body }, life.signal);
  if (reply.status !== 200)
    throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
}

/** Errors of `look` count as false: a fault may have made Postgres unavailable. */
async function until({ signal }: Life, what: string, look: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + STEP_LIMIT_MS; ; await pause(PAUSE_MS, undefined, { signal })) {
    if (await look().catch(() => false)) return;
    if (performance.now() > deadline) throw new Error(`not within ${STEP_LIMIT_MS / 1000} s: ${what}`);
  }
}
