// After each of many random edits of zones that our signer signs, a node that takes the edit as the feed tells it gives no
// answer that a validator of others takes for bogus, or for something else than the records say.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveEditable } from '../../support/answer/serve-node.ts';
import { keySettings } from '../../support/dnssec/zone-keys.ts';
import { freePort, type Peer, startPeer } from '../../support/peers/peers.ts';
import { randomFrom } from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { startDelv } from '../../support/validators/delv.ts';
import { EditedZone } from '../../support/validators/edited-zone.ts';
import { unexpected } from '../../support/validators/judge-verdicts.ts';
import { NEEDS_VALIDATORS, startResolvers } from '../../support/validators/start-validators.ts';
import type { ValidatingResolver, Validator } from '../../support/validators/validator.ts';

const SEED = Number(process.env.ZONEFLEET_SEED ?? 20_261_123);
const EDITS = scale(1000, 60);
/** delv starts a process for each question: it is asked after every so-manieth edit. */
const EDITS_OF_DELV = 10;

describe.skipIf(NEEDS_VALIDATORS !== '')(`signed zones that are edited${NEEDS_VALIDATORS}`, () => {
  const random = randomFrom(SEED);
  const zones = Object.values(keySettings()).flatMap((setting, i) =>
    (['nsec', 'nsec3'] as const).map(
      (denial) => new EditedZone({ apex: `${denial}-${i}.example.`, denial, setting, random }),
    ),
  );
  let root: Peer;
  let node: Awaited<ReturnType<typeof serveEditable>>;
  let resolvers: readonly ValidatingResolver[];
  const delvs = new Map<EditedZone, Validator>();

  beforeAll(async () => {
    root = await startPeer('nsd', [{ apex: '.', text: '@ 60 SOA a. b. 1 1 1 1 60\n@ 60 NS a.' }]);
    const port = await freePort();
    node = await serveEditable(
      zones.map((zone) => zone.zone()),
      [{ address: '127.0.0.1', port }],
    );
    resolvers = await startResolvers(
      {
        anchors: zones.flatMap(({ anchors }) => anchors),
        reached: {
          stubs: [{ zone: '.', port: root.port }, ...zones.map(({ apex }) => ({ zone: apex, port }))],
        },
      },
      { keeps: false },
    );
    for (const zone of zones) delvs.set(zone, await startDelv(zone.anchors, port));
  });

  afterAll(async () => {
    await Promise.all([...(resolvers ?? []), ...delvs.values()].map((each) => each.stop()));
    await node?.stop();
    await root?.stop();
  });

  it(`have no answer that is bogus or wrong after any of ${EDITS} edits`, async () => {
    const wrong: string[] = [];
    let verdicts = 0;
    for (let edit = 0; edit < EDITS && wrong.length === 0; edit++) {
      const zone = zones[edit % zones.length] as EditedZone;
      const { changes, questions } = zone.edit();
      node.edit(zone.apex, changes);
      const delv = edit % EDITS_OF_DELV === 0 ? [delvs.get(zone) as Validator] : [];
      await Promise.all(
        [...resolvers, ...delv].map(async (validator) => {
          await validator.forget();
          const asked = questions.filter((question) => validator.judges?.(question) ?? true);
          const told = await validator.ask(asked);
          verdicts += told.length;
          wrong.push(...unexpected(validator, asked, told).map((line) => `edit ${edit}: ${line}`));
        }),
      );
    }
    console.log(`${verdicts} verdicts`);
    expect(wrong).toEqual([]);
  });
});
