import { expect, it } from 'vitest';
import { dsOf } from '../../../src/checks/validation/roll-anchors.ts';
import type { RootKeys } from '../../../src/checks/validation/root-keys.ts';
import { AnchorWatch } from '../../../workers/rounds/watch-anchors.ts';
import { makeKey } from '../../support/dnssec/signing.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';

const database = sharedDatabase();

const DAY = 86_400_000;
const [OLD, NEW] = [makeKey(13), makeKey(13)];
const CONFIGURED = [dsOf(OLD.rdata)];

function watch(configured: readonly Uint8Array[] = CONFIGURED) {
  const clock = { now: 1_700_000_000_000 };
  const told: string[] = [];
  const troubles: unknown[] = [];
  const looks: (RootKeys | undefined)[] = [];
  let seen: RootKeys | undefined | Error = { present: [OLD.rdata, NEW.rdata], revoked: [] };
  const anchors = new AnchorWatch({
    db: database.db,
    configured,
    observe: async () => {
      if (seen instanceof Error) throw seen;
      looks.push(seen);
      return seen;
    },
    onChange: ({ keyTag, from, to }) => told.push(`${keyTag === OLD.tag ? 'old' : 'new'} ${from} ${to}`),
    onTrouble: (error) => troubles.push(error),
    now: () => clock.now,
    idleMs: 5,
  });
  const tags = () => anchors.current().map((ds) => ((ds[0] as number) << 8) | (ds[1] as number));
  return {
    anchors,
    clock,
    told,
    troubles,
    looks,
    tags,
    see: (next: RootKeys | Error | undefined) => (seen = next),
  };
}

it('a key that was seen for 30 days is trusted, and one that was revoked is not', async () => {
  const { anchors, clock, told, tags, see } = watch();
  anchors.start();
  try {
    await until(() => told.length === 2, 'it has looked');
    expect(told.sort()).toEqual(['new new pending', 'old new valid']);
    expect(tags()).toEqual([OLD.tag]);
    clock.now += 30 * DAY;
    await until(() => tags().length === 2, 'the new key is trusted');
    see({ present: [NEW.rdata], revoked: [OLD.rdata] });
    clock.now += DAY;
    await until(() => tags().length === 1, 'the old key is not trusted any more');
    expect(tags()).toEqual([NEW.tag]);
    expect(told.slice(2)).toEqual(['new pending valid', 'old valid revoked']);
  } finally {
    await anchors.stop();
  }
});

it('another worker trusts what one has seen', async () => {
  const first = watch();
  first.anchors.start();
  await until(() => first.told.length === 2, 'it has looked');
  first.see({ present: undefined, revoked: [OLD.rdata] });
  first.clock.now += DAY;
  await until(() => first.tags().length === 0, 'the key is revoked');
  await first.anchors.stop();
  const second = watch();
  second.see(undefined);
  second.anchors.start();
  await until(() => second.tags().length === 0, 'the other knows');
  await second.anchors.stop();
});

it('looks once a day, and again when nothing validated', async () => {
  const { anchors, looks, see, troubles } = watch();
  see({ present: undefined, revoked: [] });
  anchors.start();
  await until(() => looks.length > 2, 'it looks again');
  see(new Error('no network'));
  await until(() => troubles.length > 0, 'a fault is told');
  const { length } = looks;
  see({ present: [OLD.rdata], revoked: [] });
  await until(() => looks.length > length, 'it looks again');
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(looks).toHaveLength(length + 1);
  await anchors.stop();
});

it('follows nothing without anchors', async () => {
  const { anchors, looks, tags } = watch([]);
  anchors.start();
  await new Promise((resolve) => setTimeout(resolve, 30));
  await anchors.stop();
  expect([looks, tags()]).toEqual([[], []]);
});
