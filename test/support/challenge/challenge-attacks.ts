// How attackers try to have another owner's name verified. No attack succeeds while an honest server of the zone still
// answers: an attacker who controls all servers controls the zone.

import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { pick, type Random } from '../random/random-zones.ts';
import { answering, type Conduct } from '../world/zone-exchange.ts';
import { CHANGES, changingWildcard } from '../zone/changing-wildcards.ts';
import { type ChallengeDraft, FLEET, fail, lastOf, TXT_VALUE, VALUE } from './challenge-draft.ts';
import { nsLines, type Seat, type WorldZone } from './challenge-world.ts';

/** False: this world has no room for it. */
type Attack = (draft: ChallengeDraft) => boolean;

const ATTACKS = {
  'nearly the value': nearlyTheValue,
  'the value at another name': valueElsewhere,
  'some servers of a zone': captureSome,
  'some servers of a zone above': captureAbove,
  'a server that has it every other time': alternate,
  'a wildcard': wildcard,
  'a wildcard whose alias changes': shiftingWildcard,
  'hardly any server left': failMost,
  'nameservers without an address': dropAddresses,
  'a server that does not serve the zone': sayWithoutRight,
  'our own servers': useOurs,
  'too long a way': leadAstray,
  'records below a cut': hideBelowCut,
} satisfies Record<string, Attack>;
export type AttackKind = keyof typeof ATTACKS;
export const ATTACK_KINDS = Object.keys(ATTACKS) as AttackKind[];

/** Few worlds have room for them, and they are a matter of chance: so more often where there is room. */
const BY_CHANCE: readonly AttackKind[] = ['a wildcard', 'a wildcard whose alias changes'];

/** One that this world has room for. */
export function attack(draft: ChallengeDraft): AttackKind {
  for (;;) {
    const kind = pick(draft.random, draft.random() < 0.3 ? BY_CHANCE : ATTACK_KINDS);
    if (ATTACKS[kind](draft)) return kind;
  }
}

const NEARLY = [
  `"${VALUE.toUpperCase()}"`,
  `"${VALUE} "`,
  `" ${VALUE}"`,
  `"${VALUE.slice(0, -1)}"`,
  `"${VALUE}a"`,
  `"${VALUE}\\000"`,
  `"\\"${VALUE}\\""`,
  `"${VALUE.slice('svc-verify='.length)}"`,
  '""',
];

function nearlyTheValue(draft: ChallengeDraft): boolean {
  const { name, zone } = lastOf(draft);
  zone.lines.push(...[1, 2].map(() => `${name} TXT ${pick(draft.random, NEARLY)}`));
  return true;
}

function valueElsewhere(draft: ChallengeDraft): boolean {
  const { name, zone } = lastOf(draft);
  const owner = pick(draft.random, [zone.apex, `x.${name}`, `${name}${zone.apex}`]);
  if (owner === name) return false;
  zone.lines.push(`${owner} ${TXT_VALUE}`);
  return true;
}

function captureSome(draft: ChallengeDraft): boolean {
  const { world, random, links, story } = draft;
  const { name, zone } = pick(random, links);
  const captured = some(random, zone.seats);
  if (captured.length === 0) return false;
  leaveBe(draft);
  const rest = zone.lines.filter((line) => !line.startsWith(`${name} `));
  for (const { address } of captured) {
    const lie = pick(random, name === zone.apex ? ['value'] : ['value', 'alias', 'referral']);
    world.versions.set(address, [...rest, ...lies(draft, name, lie)]);
    story.push(`${address} of ${zone.apex} lies: ${lie}`);
  }
  return true;
}

function lies({ world }: ChallengeDraft, name: string, lie: string): string[] {
  if (lie === 'referral') return nsLines(world.counterfeit(name, [`${name} ${TXT_VALUE}`]));
  if (lie === 'value') return [`${name} ${TXT_VALUE}`];
  const evil = world.zones.find(({ apex }) => apex === 'evil.com.') ?? world.add('evil.com.', { servers: 1 });
  evil.lines.push(`mine.evil.com. ${TXT_VALUE}`);
  return [`${name} CNAME mine.evil.com.`];
}

function captureAbove(draft: ChallengeDraft): boolean {
  const { world, random, links, story } = draft;
  const { name } = pick(random, links);
  const misled = pick(random, world.path(name));
  const above = world.holding(misled.apex, true);
  const captured = some(random, above.seats);
  if (captured.length === 0) return false;
  leaveBe(draft);
  const fake = world.counterfeit(misled.apex, [`${name} ${TXT_VALUE}`]);
  for (const { address } of captured) {
    world.misled.set(address, new Map([[misled.apex, fake]]));
    story.push(`${address} of ${above.apex} delegates ${misled.apex} elsewhere`);
  }
  return true;
}

function alternate(draft: ChallengeDraft): boolean {
  const { name, zone } = lastOf(draft);
  zone.lines.push(`${name} ${TXT_VALUE}`);
  const { address } = pick(draft.random, zone.seats);
  let turn = 0;
  draft.story.push(`it is ${address}`);
  draft.world.conducts.set(address, (asked) =>
    asked.name === name && asked.type === 'TXT' && turn++ % 2 === 1 ? denying(zone) : undefined,
  );
  return true;
}

function wildcard(draft: ChallengeDraft): boolean {
  const [{ name, zone }, ...aliases] = draft.links;
  if (zone.apex === name || aliases.length > 0) return false;
  const content = draft.random() < 0.5 ? TXT_VALUE : 'CNAME mine.tenant.com.';
  draft.world.add('tenant.com.').lines.push(`mine.tenant.com. ${TXT_VALUE}`);
  zone.lines.push(`*.${parentOf(name)} ${content}`);
  if (draft.random() < 0.3) zone.lines.push(`${name} ${content}`);
  return true;
}

function shiftingWildcard(draft: ChallengeDraft): boolean {
  const { world, random, links, story } = draft;
  const [{ name, zone }, ...aliases] = links;
  if (zone.apex === name || aliases.length > 0) return false;
  const tenants = world.add('tenant.com.');
  const count = pick(random, [2, 2, 3, 4]);
  const targets = Array.from({ length: count }, (_, i) => `t${i}.tenant.com.`);
  for (const [i, target] of targets.entries()) {
    tenants.lines.push(`${target} ${i === 0 ? TXT_VALUE : pick(random, ['A 5.200.0.1', 'TXT "another"'])}`);
  }
  const by = pick(random, CHANGES);
  story.push(`${count} targets ${by}`);
  const shared = { turn: 0 };
  for (const { address } of zone.seats) {
    const memory = random() < 0.5 ? shared : { turn: Math.floor(random() * count) };
    world.conducts.set(address, changingWildcard(parentOf(name), by, { targets, random, memory }));
  }
  return true;
}

function failMost(draft: ChallengeDraft): boolean {
  leaveBe(draft, TXT_VALUE);
  const { zone } = pick(draft.random, draft.links);
  for (const seat of zone.seats.slice(0, Math.floor(zone.seats.length / 2) + 1)) fail(draft, seat);
  return true;
}

function dropAddresses(draft: ChallengeDraft): boolean {
  leaveBe(draft, TXT_VALUE);
  const { zone } = pick(draft.random, draft.links);
  for (let i = 0; i <= zone.seats.length; i++) zone.homeless.push(`ns${i}.nowhere.com.`);
  return true;
}

function sayWithoutRight(draft: ChallengeDraft): boolean {
  const { name, zone } = lastOf(draft);
  const how = pick(draft.random, ['without AA', 'another name', 'beside', 'denied']);
  draft.story.push(how);
  const told = answering(`${how === 'another name' ? 'x.' : ''}${name} ${TXT_VALUE}`);
  const said: ReturnType<Conduct> = {
    'without AA': { ...told, aa: false },
    'another name': told,
    beside: { ...denying(zone), additionals: told.answers },
    denied: { ...denying(zone), answers: told.answers },
  }[how];
  for (const { address } of zone.seats) {
    draft.world.conducts.set(address, (asked) =>
      asked.name === name && asked.type === 'TXT' ? said : undefined,
    );
  }
  return true;
}

function useOurs(draft: ChallengeDraft): boolean {
  const { world, random, links } = draft;
  leaveBe(draft, TXT_VALUE);
  const { zone } = pick(random, links);
  const count = random() < 0.5 ? 1 : zone.seats.length;
  const seats = zone.seats.map((seat, i) =>
    i < count ? { ...seat, server: FLEET[i % FLEET.length] as string } : seat,
  );
  world.zones[world.zones.indexOf(zone)] = { ...zone, seats };
  return true;
}

const MAX_ALIASES = 8; // docs/rules.md "TXT verification"

function leadAstray(draft: ChallengeDraft): boolean {
  const { random, links } = draft;
  const { name, zone } = lastOf(draft);
  if (name === zone.apex) return false;
  const more = MAX_ALIASES + 1 - (links.length - 1);
  const chain = [name, ...Array.from({ length: more }, (_, i) => `l${i}.${zone.apex}`)];
  const back = random() < 0.5 ? `CNAME ${pick(random, chain)}` : TXT_VALUE;
  for (const [i, each] of chain.entries()) {
    const next = chain[i + 1];
    zone.lines.push(`${each} ${next === undefined ? back : `CNAME ${next}`}`);
  }
  return true;
}

/** The zone above may hold what it likes there: it has given the name away. */
function hideBelowCut(draft: ChallengeDraft): boolean {
  const { name, zone } = lastOf(draft);
  if (zone.apex === name) return false;
  zone.lines.push(`${name} ${TXT_VALUE}`);
  draft.world.add(name);
  return true;
}

/** What the owner has at the end of the way, by default nothing of ours. */
function leaveBe(draft: ChallengeDraft, content?: string): void {
  const { name, zone } = lastOf(draft);
  const there = content ?? pick(draft.random, ['', 'A 5.200.0.1', 'TXT "v=spf1 -all"']);
  if (there !== '') zone.lines.push(`${name} ${there}`);
}

/** At least one, and not all; none where there is but one. */
function some(random: Random, seats: readonly Seat[]): Seat[] {
  const shuffled = [...seats].sort(() => random() - 0.5);
  return shuffled.slice(0, seats.length < 2 ? 0 : 1 + Math.floor(random() * (seats.length - 1)));
}

function denying({ apex }: WorldZone) {
  const { answers } = answering(`${apex} SOA ns.nic. admin.nic. 1 7200 900 1209600 600`);
  return { ...answering(), rcode: RCODE.NXDOMAIN, authorities: answers };
}

function parentOf(name: string): string {
  return name.slice(name.indexOf('.') + 1);
}
