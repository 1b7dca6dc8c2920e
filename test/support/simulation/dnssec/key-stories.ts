// Courses of events in which one rule of the key machine decides, at hours that chance seldom finds: the registrar acts just
// when a stay ends, a backup comes back in the middle of a rollover, one address of the parent keeps an old zone.

import type { Machine } from '../../../../src/checks/dnssec/machine.ts';
import { DAY, HOUR, MINUTE } from '../virtual-time.ts';
import type { Actor, Story } from './simulated-signed-domain.ts';
import type { SimulatedAddress, SimulatedNode, Surroundings } from './simulated-surroundings.ts';

const ADDRESS: SimulatedAddress = { lag: 0, isHidden: false, silent: [], lying: [] };
const HIDDEN: SimulatedAddress = { ...ADDRESS, lag: DAY, isHidden: true };
const NODE: SimulatedNode = {
  cutOff: [],
  lost: [],
  full: [],
  lag: MINUTE,
  broken: undefined,
  forgottenAt: Number.POSITIVE_INFINITY,
};

const QUIET: Surroundings = {
  registrar: 'scripted',
  addresses: [ADDRESS, ADDRESS],
  dsTtl: 3600,
  nsTtl: 3600,
  dataTtls: [{ at: 0, ttl: 2 * 86_400 }],
  nodes: [NODE, NODE, NODE],
  workersDown: [],
  clock: [{ at: 0, offset: 0 }],
  backupAfterMs: DAY,
  restores: [],
  restoreShare: 0,
  elsewhere: [],
  isHasty: false,
  goals: [],
  edits: [],
  isSplit: false,
};

type Play = Story['play'];

function story(name: string, days: number, around: Partial<Surroundings>, play: Play): Story {
  return { name, days, around: { ...QUIET, ...around }, play };
}

const days = (from: number, to: number) => ({ from: from * DAY, to: to * DAY });
const isAsked = ({ asked }: Machine) => asked.length > 0;
const isReached = ({ waiting, goal, asked }: Machine) =>
  waiting === null && asked.length > 0 === (goal === 'signed');
const isAskedAnew = ({ asked, wanted }: Machine) => asked.length === 1 && asked[0] === wanted?.sep;

/** Enabled on the first day; the registrar acts when it is asked to; from day ten on the story goes on. */
function* secured(actor: Actor): ReturnType<Play> {
  actor.want('enable');
  yield isAsked;
  yield 10 * MINUTE;
  actor.enter(actor.machine.asked);
  yield 10 * DAY - actor.now;
}

/** The owner does what the API says as soon as it says so. */
function* follow(actor: Actor): ReturnType<Play> {
  yield isAskedAnew;
  yield 10 * MINUTE;
  actor.enter(actor.machine.asked);
}

const SPLIT = { isSplit: true };
const isSignedAnew = ({ serving, wanted }: Machine) => serving.dataSigners.join() === wanted?.data;

export const STORIES: readonly Story[] = [
  story('both keys are rolled, then the zone is unsigned, and all goes well', 80, SPLIT, function* (actor) {
    yield* secured(actor);
    actor.want('roll');
    yield* follow(actor);
    yield isReached;
    yield 30 * DAY - actor.now;
    actor.want('disable');
    yield 2 * DAY;
    actor.enter([]);
  }),
  story(
    'a KSK is rolled, and no image of a node has room for it',
    40,
    { ...SPLIT, nodes: [NODE, { ...NODE, full: [days(10.5, 20)] }] },
    function* (actor) {
      yield* secured(actor);
      yield DAY;
      actor.want('roll');
      yield* follow(actor);
    },
  ),
  story('a key of another algorithm replaces one', 50, {}, function* (actor) {
    yield* secured(actor);
    actor.want('algorithm');
    yield* follow(actor);
  }),
  story('a key is known to others', 40, { isHasty: true }, function* (actor) {
    yield* secured(actor);
    actor.want('compromised');
    yield* follow(actor);
  }),
  story(
    'TTLs fall just before a new ZSK signs',
    30,
    {
      ...SPLIT,
      dataTtls: [
        { at: 0, ttl: 2 * 86_400 },
        { at: 12.1 * DAY, ttl: 300 },
      ],
    },
    function* (actor) {
      yield* secured(actor);
      yield DAY;
      actor.want('roll ZSK');
    },
  ),
  story(
    'the clock is two hours late while a ZSK signs, and two hours early afterwards',
    30,
    {
      ...SPLIT,
      clock: [
        { at: 0, offset: -2 * HOUR },
        { at: 13 * DAY, offset: 2 * HOUR },
      ],
    },
    function* (actor) {
      yield* secured(actor);
      yield DAY;
      actor.want('roll ZSK');
    },
  ),
  story('a backup undoes that a new ZSK signs, and its rollover is given up', 40, SPLIT, function* (actor) {
    yield* secured(actor);
    actor.want('roll ZSK');
    yield isSignedAnew;
    yield 12 * HOUR;
    actor.restore(20 * HOUR);
    yield HOUR;
    actor.want('abort');
  }),
  story(
    'a backup undoes that a DS was asked for, and the owner disables',
    30,
    { backupAfterMs: HOUR, dataTtls: [{ at: 0, ttl: 300 }] },
    function* (actor) {
      actor.want('enable');
      yield isAsked;
      yield 10 * MINUTE;
      actor.enter(actor.machine.asked, [20 * HOUR, 20 * HOUR]);
      yield 20 * MINUTE;
      actor.restore(50 * MINUTE);
      yield MINUTE / 4;
      actor.want('disable');
    },
  ),
  story('the owner disables as soon as a DS that was long asked for is entered', 30, {}, function* (actor) {
    actor.want('enable');
    yield isAsked;
    yield 9 * DAY;
    actor.enter(actor.machine.asked, [20 * HOUR, 20 * HOUR]);
    yield HOUR;
    actor.want('disable');
  }),
  story(
    'the DS comes back at the end of the stay, and those addresses that show it do not answer',
    40,
    {
      addresses: Array.from({ length: 8 }, (_, i) =>
        i < 2 ? ADDRESS : { ...ADDRESS, silent: [days(17 + 19 / 24, 19)] },
      ),
    },
    function* (actor) {
      yield* secured(actor);
      const ours = actor.machine.asked;
      actor.want('disable');
      yield DAY;
      actor.enter([]);
      yield 5 * DAY + 21 * HOUR;
      actor.enter(
        ours,
        [30, 30, 23, 23, 23, 23, 23, 23].map((hours) => hours * HOUR),
      );
    },
  ),
  story(
    'the DS comes and goes again while workers are down',
    60,
    { dsTtl: 10 * 86_400, workersDown: [days(12, 18.2)] },
    function* (actor) {
      yield* secured(actor);
      const ours = actor.machine.asked;
      actor.want('disable');
      yield DAY;
      actor.enter([]);
      yield 1.1 * DAY;
      actor.enter(ours);
      yield 5.5 * DAY;
      actor.enter([]);
    },
  ),
  story(
    'one address denies the DS for twelve days, and the other is silent for ten',
    40,
    {
      addresses: [
        { ...ADDRESS, lying: [days(10, 22)] },
        { ...ADDRESS, silent: [days(10, 20)] },
      ],
    },
    function* (actor) {
      yield* secured(actor);
      actor.want('disable');
    },
  ),
  story(
    'resolvers keep a DS for ten days, which a hidden server shows for one more',
    60,
    { dsTtl: 10 * 86_400, addresses: [ADDRESS, ADDRESS, HIDDEN] },
    function* (actor) {
      yield* secured(actor);
      actor.want('disable');
      yield DAY;
      actor.enter([], [0, 0, DAY]);
    },
  ),
  story('the registrar enters a SHA-384 digest alone', 40, {}, function* (actor) {
    actor.want('enable');
    yield isAsked;
    yield HOUR;
    actor.enter(actor.machine.asked, [], 4);
    yield 10 * DAY - actor.now;
    actor.want('disable');
  }),
  story(
    'a node sends signatures that do not verify',
    30,
    { nodes: [NODE, { ...NODE, broken: days(0, 3) }] },
    (actor) => secured(actor),
  ),
  story(
    'the domain comes from servers of others',
    30,
    { elsewhere: [days(-1000, 3)], nsTtl: 86_400, dataTtls: [{ at: 0, ttl: 300 }] },
    (actor) => secured(actor),
  ),
  story('the owner moves away before the DS is entered', 40, { elsewhere: [days(5, 30)] }, function* (actor) {
    actor.want('enable');
    yield 8 * DAY;
    actor.enter(actor.machine.asked);
  }),
  story(
    'a registry reads CDS from a node that is cut off',
    60,
    { nodes: [NODE, { ...NODE, cutOff: [days(12, 28)] }] },
    function* (actor) {
      yield* secured(actor);
      yield 12.1 * DAY - actor.now;
      actor.want('disable');
      yield HOUR;
      actor.enter([]);
      yield 27.9 * DAY - actor.now;
      actor.enter(actor.readCds(1), [20 * HOUR, 20 * HOUR]);
    },
  ),
];
