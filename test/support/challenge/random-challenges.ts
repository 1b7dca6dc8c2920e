// Random worlds with a challenge in them. In some the owner has published the value, whatever else is wrong there; in the
// others an attacker wants it to look so, with the powers that attackers have: some of the servers, a wildcard, a dead zone.

import { type Name, parseName } from '../../../src/dns/name.ts';
import { pick, type Random, randomFrom } from '../random/random-zones.ts';
import type { ZoneExchange } from '../world/zone-exchange.ts';
import { type AttackKind, attack } from './challenge-attacks.ts';
import { type ChallengeDraft, FLEET, fail, type Link, lastOf, VALUE } from './challenge-draft.ts';
import { ChallengeWorld } from './challenge-world.ts';

export interface RandomChallenge {
  readonly exchange: ZoneExchange;
  readonly host: Name;
  readonly value: string;
  readonly untrusted: ReadonlySet<Name>;
  /** Undefined: the owner has published the value. */
  readonly attack: AttackKind | undefined;
  /** For who reads a failure. */
  readonly story: string;
}

const HONEST_SHARE = 0.3;
/** The share of worlds with an attacker in which servers fail as well. */
const BROKEN_SHARE = 0.3;
const UNTRUSTED = new Set(FLEET.map((text) => parseName(text)));

export function randomChallenge(seed: number): RandomChallenge {
  const random = randomFrom(seed);
  const world = new ChallengeWorld();
  const draft: ChallengeDraft = { world, random, links: randomLinks(world, random), story: [] };
  const isHonest = random() < HONEST_SHARE;
  if (isHonest) publish(draft);
  const kind = isHonest ? undefined : attack(draft);
  if (isHonest || random() < BROKEN_SHARE) failSome(draft);
  const way = draft.links.map(({ name, zone: { apex } }) => `${name} in ${apex}`).join(' → ');
  return {
    exchange: world.exchange(),
    host: parseName(draft.links[0].name),
    value: VALUE,
    untrusted: UNTRUSTED,
    attack: kind,
    story: [`seed ${seed}: ${kind ?? 'published'}`, way, ...draft.story].join('; '),
  };
}

/** The aliases stand in their zones; what the last one has is for others to write. */
function randomLinks(world: ChallengeWorld, random: Random): [Link, ...Link[]] {
  const size = () => ({
    servers: pick(random, [1, 2, 2, 2, 3, 4, 5]),
    addresses: pick(random, [1, 1, 2]),
    ...(random() < 0.2 && { below: `of${world.zones.length}.hoster.com.` }),
  });
  world.add('com.');
  const above = random() < 0.2 ? world.add('co.com.', size()).apex : 'com.';
  const domain = world.add(`victim.${above}`, size()).apex;
  const host = `_svc-challenge.${random() < 0.2 ? 'deep.' : ''}${domain}`;
  const isZone = random() < 0.15;
  if (isZone) world.add(host, size());
  const links: [Link, ...Link[]] = [{ name: host, zone: world.holding(host) }];
  const aliases = isZone ? 0 : pick(random, [0, 0, 0, 1, 1, 2, 5]);
  for (let i = 0; i < aliases; i++) {
    const { name, zone } = links.at(-1) as Link;
    const target = `c${i}.${random() < 0.5 ? zone.apex : world.add(`p${i}.com.`, size()).apex}`;
    zone.lines.push(`${name} CNAME ${target}`);
    links.push({ name: target, zone: world.holding(target) });
  }
  return links;
}

/** As owners and their panels write it, with what may stand beside it. */
function publish(draft: ChallengeDraft): void {
  const { random, links } = draft;
  const { name, zone } = lastOf(draft);
  const cut = Math.floor(random() * VALUE.length);
  const strings = random() < 0.5 ? `"${VALUE}"` : `"${VALUE.slice(0, cut)}" "${VALUE.slice(cut)}"`;
  if (random() < 0.3) zone.lines.push(`${name} TXT "v=spf1 -all"`, `${name} TXT "svc-verify=another"`);
  zone.lines.push(`${name} TXT ${strings}`);
  for (const { apex, lines } of new Set(links.map((link) => link.zone))) {
    const beside = pick(random, ['', '', 'A 5.200.0.1', 'TXT "beside it"', `CNAME www.${apex}`]);
    if (beside !== '') lines.push(`*.${apex} ${beside}`);
  }
}

/** Of each zone at most half of the addresses fail, and never the last one that would contradict a lie. */
function failSome(draft: ChallengeDraft): void {
  const { world, random } = draft;
  for (const { apex, seats, homeless } of world.zones) {
    if (apex === '.' || random() < 0.5) continue;
    const upright = seats.filter(({ address }) => !world.isBent(address)).sort(() => random() - 0.5);
    const room = Math.floor((seats.length + homeless.length) / 2);
    const sparing = upright.length < seats.length ? upright.length - 1 : upright.length;
    const count = Math.floor(random() * (Math.min(room, sparing) + 1));
    for (const seat of upright.slice(0, Math.max(0, count))) fail(draft, seat);
  }
}
