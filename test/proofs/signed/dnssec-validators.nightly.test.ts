// What validators that are not ours make of our answers: Unbound in four kinds, BIND's named and delv, and Knot
// Resolver, over a signed private root. Every kind of answer is secure or insecure as its rule says, and none is bogus. NSD with
// the same zones shows that the expectations are right.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseName, printName, ROOT } from '../../../src/dns/name.ts';
import { typeMnemonic } from '../../../src/dns/type-codes.ts';
import { listenTcp } from '../../../src/nameserver/tcp/tcp.ts';
import type { ListenAddress } from '../../../src/process/listen-address.ts';
import { listenUdpFor } from '../../support/answer/listen-udp-for.ts';
import { nodeOf } from '../../support/answer/queries.ts';
import type { AnsweringNode } from '../../support/answer/test-node.ts';
import { startPeer } from '../../support/peers/peers.ts';
import { proves, scale } from '../../support/tests/scale.ts';
import { startTogether } from '../../support/tests/start-together.ts';
import {
  brokenZone,
  type FixtureWorld,
  MARKED_ROW,
  signFixtures,
} from '../../support/validators/fixture-world.ts';
import {
  canListenOn53,
  chooseNetwork,
  type SignedWorld,
  startSignedWorld,
} from '../../support/validators/signed-world.ts';
import {
  NEEDS_VALIDATORS,
  startValidators,
  type Validators,
} from '../../support/validators/start-validators.ts';
import type { ExpectedVerdict, Security, Validator, Verdict } from '../../support/validators/validator.ts';
import { zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { recordsOf, zonesOf } from '../../support/zone/zone-text.ts';

const missing = (await canListenOn53()) ? NEEDS_VALIDATORS : ' (skipped: needs port 53 of loopback)';
/** delv starts a process for each question. */
const TOOL_QUESTIONS = scale(Number.POSITIVE_INFINITY, 30);

describe.skipIf(missing !== '')(`validators of others${missing}`, () => {
  const network = chooseNetwork();
  let fixtures: FixtureWorld;
  let broken: FixtureWorld;
  let world: SignedWorld;
  let validators: Validators;

  beforeAll(async () => {
    fixtures = await signFixtures(network, proves ? 2 : 1);
    broken = await brokenZone(network);
    world = await startSignedWorld(network, allZones(), fixtures.children);
    validators = await startValidators(world.space);
  });

  afterAll(async () => {
    await validators?.stop();
    await world?.stop();
  });

  const builtZones = () =>
    zonesOf(
      ...allZones().map(({ apex, text, records }) =>
        zoneOfRecords(parseName(apex, ROOT), records ?? recordsOf(text, apex)),
      ),
    );
  const allZones = () => [...fixtures.zones, ...broken.zones];

  describe('with NSD, which shows that these expectations hold', () => {
    let subject: { stop(): Promise<void> };
    beforeAll(async () => {
      subject = await startPeer('nsd', allZones(), [world.subject]);
      await validators.forget();
    });
    afterAll(() => subject.stop());

    it('find every answer secure or insecure as its rule says', () =>
      judge(fixtures.questions.filter(({ row }) => row !== MARKED_ROW)));
    it('find bogus what was changed, or is not proven', judgeBroken);
  });

  describe('with a node of ours and the same signed zones', () => {
    let subject: { stop(): Promise<void> } | undefined;
    beforeAll(async () => {
      subject = await serveNode(nodeOf(builtZones()), [world.subject]);
      await validators.forget();
    });
    afterAll(() => subject?.stop());

    it('find every answer secure or insecure as its rule says', judgeFixtures);
    it('find bogus what was changed, or is not proven', judgeBroken);
  });

  const judgeFixtures = () => judge(fixtures.questions);

  async function judge(questions: readonly ExpectedVerdict[]): Promise<void> {
    const wrong: string[] = [];
    let judged = 0;
    for (const validator of [...validators.resolvers, ...validators.tools]) {
      const able = questions.filter((question) => validator.judges?.(question) ?? true);
      const asked = validators.tools.includes(validator) ? someOf(able) : able;
      wrong.push(...unexpected(validator, asked, await validator.ask(asked)));
      judged += asked.length;
    }
    console.log(`${judged} verdicts on ${questions.length} questions to ${fixtures.zones.length} zones`);
    expect(wrong.slice(0, 40)).toEqual([]);
  }

  async function judgeBroken(): Promise<void> {
    const { questions } = broken;
    const wrong: string[] = [];
    for (const validator of validators.resolvers)
      wrong.push(...unexpected(validator, questions, await validator.ask(questions)));
    expect(wrong).toEqual([]);
  }
});

/** They take long: every so-manieth question, so that all rows of all zones have their turn. */
function someOf(questions: readonly ExpectedVerdict[]): ExpectedVerdict[] {
  const step = Math.max(1, Math.floor(questions.length / TOOL_QUESTIONS));
  return questions.filter((_, i) => i % step === 0);
}

/** Listens on UDP and TCP, as the nameserver process does. */
async function serveNode(
  node: AnsweringNode,
  addresses: readonly ListenAddress[],
): Promise<{ stop(): Promise<void> }> {
  const stoppable = <T extends { close(): Promise<void> }>(listener: T) => ({ stop: () => listener.close() });
  const [udp, tcp] = await startTogether([
    listenUdpFor(node, addresses).then(stoppable),
    listenTcp(addresses, node).then(stoppable),
  ]);
  return {
    async stop() {
      await Promise.all([udp.stop(), tcp.stop()]);
    },
  };
}

/** What is not as expected, a line for each. */
function unexpected(
  { name: validator }: Pick<Validator, 'name'>,
  questions: readonly ExpectedVerdict[],
  verdicts: readonly Verdict[],
): string[] {
  return questions.flatMap(({ name, type, row, rcode, security }, i) => {
    const got = verdicts[i] as Verdict;
    const asked = `${validator}: ${printName(name)} ${typeMnemonic(type)} [${row}]`;
    const isSecure = got.security === security || isLenient(validator, security, got.security);
    if (isSecure && (got.rcode === rcode || got.rcode === '')) return [];
    const why = got.reason === undefined ? '' : ` (${got.reason})`;
    return [`${asked}: ${got.rcode} ${got.security}${why}, not ${rcode} ${security}`];
  });
}

/** delv says of opt-out proofs that they are in order, and not that AD must stay clear (RFC 5155 §9.2). */
function isLenient(validator: string, wanted: Security, got: Security): boolean {
  return validator === 'delv' && wanted === 'insecure' && got === 'secure';
}
