import { describe, expect, it } from 'vitest';
import {
  type ForeignKeyFields,
  foreignDnskey,
  judgeForeignKeys,
} from '../../../src/checks/dnssec/foreign-key.ts';
import {
  abort,
  adopt,
  adoptAgain,
  disable,
  enable,
  keysWithDs,
  newMachine,
  roll,
  setForeign,
  share,
  sharedInPlace,
} from '../../../src/checks/dnssec/goals.ts';
import { NO_FOREIGN_KEYS } from '../../../src/checks/dnssec/machine.ts';
import type { MachineKey } from '../../../src/checks/dnssec/machine-key.ts';
import { RULES } from '../../../src/checks/dnssec/rules.ts';
import { dnssecFindings } from '../../../src/checks/dnssec/told/dnssec-findings.ts';
import { dnssecStatus } from '../../../src/checks/dnssec/told/dnssec-status.ts';
import { registrarAction } from '../../../src/checks/dnssec/told/registrar-action.ts';
import { KEY_FLAGS, makeKey } from '../../../src/zone/signing/signing-key.ts';
import { dsOf, madeKey } from '../../support/simulation/dnssec/made-keys.ts';
import { DAY, HOUR, QuietDomain } from '../../support/simulation/dnssec/quiet-domain.ts';

const A = madeKey('a', 'csk', 13);
const B = madeKey('b', 'csk', 13);

// The timelines of RFC 7583 and RFC 6781 §4. The machine does not store them as lists.
const E = madeKey('e', 'csk', 15);
const KSK = madeKey('k', 'ksk', 13);
const ZSK = madeKey('y', 'zsk', 13);
const NEXT_ZSK = madeKey('z', 'zsk', 13);

/** Hours until backups lack a version. One more passes until a tick sees that all nodes have its successor. */
const BACKUP = Math.ceil((RULES.backupAfterMs + RULES.nodeSlackMs) / HOUR);
const cache = (ttl: number) => Math.ceil((ttl * 1000 + RULES.nodeSlackMs) / HOUR);
const STAY = RULES.stayMs / HOUR;
const TWO_DAYS = 2 * 86_400;
/** Hours until each goal here is reached, with several days of margin. */
const SETTLED = 24 * 18;
const withTtl = (ttl: { dataTtl?: number; dsTtl?: number }) => Object.assign(new QuietDomain(), ttl);

let usual: QuietDomain | undefined;

/** Runs the days of the usual domain once. Each test gets a copy. */
function secureDomain(keys = [A], domain?: QuietDomain): QuietDomain {
  if (domain !== undefined || keys[0] !== A) return secured(keys, domain ?? new QuietDomain());
  usual ??= secured(keys, new QuietDomain());
  return usual.copy();
}

function secured(keys: readonly MachineKey[], domain: QuietDomain): QuietDomain {
  domain.run(1);
  domain.want((machine) => enable(machine, keys));
  domain.run(1000, ({ asked }) => asked.length > 0);
  domain.show(...domain.machine.keys.filter(({ ds }) => ds.length > 0).map(dsOf));
  domain.run(3);
  return domain;
}

/** Starts a rollover to the key, and runs until its DS is requested and then shown. */
function rollTo(domain: QuietDomain, key: MachineKey, urgent = false): QuietDomain {
  domain.want((machine) => roll(machine, [key], urgent));
  domain.run(1000, ({ asked }) => asked.includes(key.id));
  domain.show(dsOf(key));
  return domain;
}

/** A domain that is being disabled and whose parent no longer shows a DS. */
function disabling(now = false, domain = secureDomain()): QuietDomain {
  domain.want((machine) => disable(machine, now));
  domain.show();
  return domain;
}

const stepsOf = ({ steps }: QuietDomain, from = 0) =>
  steps.slice(from).map(({ kind, text }) => `${kind} ${text}`);
const lastText = ({ steps }: QuietDomain) => steps.at(-1)?.text;

/** Returns the hours until the last step of a run. */
function hoursOf(domain: QuietDomain, hours: number): number {
  const from = domain.at;
  domain.run(hours);
  return ((domain.steps.at(-1)?.at ?? 0) - from) / HOUR;
}

function between(domain: QuietDomain, from: string, to: string): number {
  const last = (kind: string) => domain.steps.findLast((step) => step.kind === kind)?.at ?? Number.NaN;
  return (last(to) - last(from)) / HOUR;
}

describe('enabling (RFC 7583 §3.3.5)', () => {
  it('requests the DS when caches and backups no longer have the unsigned zone', () => {
    const domain = secureDomain();
    expect(stepsOf(domain)).toEqual(['sign a a a -', 'ask a a a a']);
    expect(between(domain, 'sign', 'ask')).toBe(1 + BACKUP);
  });

  it('waits for the largest TTL of the zone, including negative answers', () => {
    const domain = secureDomain([A], withTtl({ dataTtl: TWO_DAYS }));
    expect(between(domain, 'sign', 'ask')).toBe(1 + cache(TWO_DAYS));
  });

  it('waits until the previous servers are no longer queried', () => {
    const domain = new QuietDomain();
    domain.delegation = { kind: 'ours', since: domain.at, ttl: TWO_DAYS, isFirst: false };
    expect(secureDomain([A], domain).hoursOf('ask')).toEqual([48 + RULES.oldServersMs / HOUR]);
  });

  it('requests nothing while other servers serve the domain, or an answer does not verify', () => {
    const domain = new QuietDomain();
    domain.delegation = { kind: 'not_ours' };
    domain.failure = 'ns1 sends no signatures';
    domain.want((machine) => enable(machine, [A]));
    domain.run(12 * 24);
    expect(domain.machine.waiting?.cause).toBe('preflight');
    domain.failure = undefined;
    domain.run(5);
    expect(domain.machine.waiting?.cause).toBe('delegation');
    domain.isPreflown = false;
    domain.run(5);
    domain.delegation = { kind: 'ours', since: domain.at, ttl: 60, isFirst: true };
    domain.run(5);
    expect([domain.machine.waiting?.cause, domain.hoursOf('ask')]).toEqual(['preflight', []]);
  });
});

describe('rolling keys', () => {
  const slow = withTtl({ dataTtl: TWO_DAYS });
  const [csk, ksk, zsk] = [secureDomain(), secureDomain([KSK, ZSK]), secureDomain([KSK, ZSK], slow)];
  csk.want((machine) => roll(machine, [B], false));
  csk.run(24 * 12); // the registrar takes its time
  const before = csk.steps.length;
  csk.show(dsOf(B));
  const stay = hoursOf(csk, SETTLED);
  rollTo(ksk, madeKey('l', 'ksk', 13)).run(24 * 9);
  zsk.want((machine) => roll(machine, [NEXT_ZSK], false));
  zsk.run(SETTLED);
  const algorithm = rollTo(secureDomain(), E);
  algorithm.run(SETTLED);

  it.each<[string, QuietDomain, string]>([
    [
      'a CSK (RFC 6781 §4.1.2)',
      csk,
      'publish ab ab a a, change_signatures ab ab b a, ask ab ab b b, withdraw b b b b',
    ],
    ['a KSK alone', ksk, 'publish kly kl y k, ask kly kl y l, withdraw ly l y l'],
    ['a ZSK (RFC 6781 §4.1.1.1)', zsk, 'publish kyz k y k, change_signatures kyz k z k, withdraw kz k z k'],
    [
      'the algorithm (RFC 6781 §4.1.4)',
      algorithm,
      'add_signatures a a ae a, publish ae ae ae a, ask ae ae ae e, withdraw e e ae e, change_signatures e e e e',
    ],
  ])('takes these steps for %s', (_, domain, steps) => {
    expect(stepsOf(domain, 2).join(', ')).toBe(steps);
  });

  it('signs data with the new key once no cache has a DNSKEY set without it (RFC 7583 §3.2.1)', () => {
    for (const domain of [csk, zsk]) expect(between(domain, 'publish', 'change_signatures')).toBe(1 + BACKUP);
  });

  it('withdraws a ZSK after the TTL of the data (Iret = Dsgn + Dprp + TTLsig)', () => {
    expect(between(zsk, 'change_signatures', 'withdraw')).toBe(1 + cache(TWO_DAYS));
  });

  it('publishes signatures before their key, and removes keys before their signatures', () => {
    expect(between(algorithm, 'add_signatures', 'publish')).toBe(1 + BACKUP);
    expect(between(algorithm, 'withdraw', 'change_signatures')).toBe(1 + BACKUP);
  });

  it('keeps both keys while the old DS is shown, and for the stay', () => {
    expect([before, stay]).toEqual([5, 1 + STAY]);
  });

  it('keeps the old key until no cache has its DS (RFC 7583 §3.3.1: Iret = DprpP + TTLds)', () => {
    const domain = rollTo(secureDomain([A], withTtl({ dsTtl: 14 * 86_400 })), B);
    expect(hoursOf(domain, SETTLED)).toBe(2 + (14 * DAY + RULES.parentSlackMs) / HOUR);
    expect(domain.steps.at(-1)?.kind).toBe('withdraw');
  });

  it('keeps the old key until the owner removes its DS', () => {
    const domain = rollTo(secureDomain(), B);
    domain.show(dsOf(A), dsOf(B));
    domain.run(24 * 12);
    expect(domain.machine.waiting).toMatchObject({ cause: 'ds_unwanted', keys: ['a'] });
    domain.show(dsOf(B));
    domain.run(24 * 8);
    expect(domain.steps.at(-1)?.kind).toBe('withdraw');
  });

  it('waits for TTLs only if the old key is compromised', () => {
    const domain = rollTo(secureDomain(), B, true);
    expect(between(domain, 'publish', 'change_signatures')).toBe(1 + cache(3600));
    expect(hoursOf(domain, 100)).toBe(2 + (HOUR + RULES.parentSlackMs) / HOUR);
    expect(domain.machine).toMatchObject({ urgent: false, serving: { keys: ['b'] } });
  });

  it('returns to an algorithm whose old signatures still exist', () => {
    const domain = rollTo(secureDomain(), E);
    domain.run(1000, ({ serving }) => !serving.keys.includes('a'));
    rollTo(domain, B).run(SETTLED);
    expect(stepsOf(domain, 5)).toEqual([
      'withdraw e e ae e',
      'add_signatures e e abe e',
      'publish be be abe e',
      'change_signatures be be be e',
      'ask be be be b',
      'withdraw b b be b',
      'change_signatures b b b b',
    ]);
  });

  it('reverts an aborted rollover with the same care', () => {
    const domain = rollTo(secureDomain(), B);
    domain.run(5);
    domain.want(abort);
    expect(abort(domain.machine)).toBe('nothing'); // a repeated call does not revert it
    domain.run(5);
    expect(domain.steps.slice(-2).map(({ text }) => text)).toEqual(['ab ab a b', 'ab ab a a']);
    domain.show(dsOf(A));
    domain.run(24 * 9);
    expect(lastText(domain)).toBe('a a a a');
  });
});

describe('disabling', () => {
  it('removes signatures if no DS was seen for the stay', () => {
    const domain = secureDomain();
    domain.want((machine) => disable(machine, false));
    domain.run(24 * 12);
    expect(lastText(domain)).toBe('a a a -');
    domain.show();
    expect([hoursOf(domain, 24 * 9), lastText(domain)]).toEqual([1 + STAY, '- - - -']);
  });

  it('removes signatures without the stay for an operator, but not before the TTL of the DS', () => {
    expect(hoursOf(disabling(true), 48)).toBe(2 + (HOUR + RULES.parentSlackMs) / HOUR);
  });

  it('signs again with the same key if the DS returns', () => {
    const domain = disabling();
    domain.run(24 * 9);
    domain.show(dsOf(A));
    domain.run(1);
    expect(domain.steps.at(-1)).toMatchObject({ kind: 'bring_back', text: 'a a a -' });
  });
});

describe('moving away', () => {
  const away = () => {
    const domain = new QuietDomain();
    domain.want((machine) => enable(machine, [A]));
    domain.run(1000, ({ asked }) => asked.length > 0);
    domain.delegation = { kind: 'not_ours' };
    return domain;
  };

  it('withdraws the request for a DS that is not shown yet, whether nodes follow or not', () => {
    const domain = away();
    domain.isCutOff = true;
    domain.run(1);
    expect(domain.steps.at(-1)).toMatchObject({ kind: 'ask_none', text: 'a a a -' });
  });

  it('requests the DS again when the parent has shown only our servers for long enough', () => {
    const domain = away();
    domain.run(24 * 9);
    expect([domain.machine.waiting?.cause, domain.machine.goal]).toEqual(['delegation', 'signed']);
    domain.delegation = { kind: 'ours', since: domain.at, ttl: 3600, isFirst: false };
    expect(hoursOf(domain, 24 * 9)).toBe(1 + RULES.oldServersMs / HOUR);
    expect(lastText(domain)).toBe('a a a a');
  });

  it('keeps requesting a DS that is shown', () => {
    const domain = secureDomain();
    domain.delegation = { kind: 'not_ours' };
    domain.run(24 * 9);
    expect(domain.machine.asked).toEqual(['a']);
  });
});

describe('unobserved time', () => {
  it.each<[string, (domain: QuietDomain) => void]>([
    ['a DS returns', (domain) => [domain.show(dsOf(A)), domain.run(1), domain.show()]],
    ['the database is restored', (domain) => Object.assign(domain, { epoch: 'restored' })],
    ['no observation is made for a day', (domain) => Object.assign(domain, { at: domain.at + 30 * HOUR })],
    ['the clock goes back', (domain) => Object.assign(domain, { at: domain.at - 3 * HOUR })],
  ])('restarts the stay if %s', (_, happen) => {
    const domain = disabling();
    domain.run(24 * 6);
    happen(domain);
    domain.run(24 * 6);
    expect(domain.machine.waiting?.cause).toBe('stay');
    domain.run(24 * 3);
    expect(domain.machine.serving.keys).toEqual([]);
  });

  it('does not restore a key of another algorithm while a restored database is held', () => {
    const domain = rollTo(secureDomain(), E);
    domain.run(SETTLED);
    const before = domain.steps.length;
    domain.epoch = 'restored';
    domain.show(dsOf(A));
    domain.run(24);
    expect([domain.machine.hold?.cause, domain.steps.length]).toEqual(['restore', before]);
    domain.run(24 * 3);
    expect(domain.steps.slice(before).map(({ kind }) => kind)).toEqual(['bring_back', 'bring_back']);
  });

  it('may include a DS that came and went, and that caches still have', () => {
    const domain = disabling(false, secureDomain([A], withTtl({ dsTtl: 10 * 86_400 })));
    domain.run(24 * 2);
    domain.at += 6 * DAY;
    domain.run(1);
    expect(hoursOf(domain, 24 * 16)).toBe(1 + (10 * DAY + RULES.parentSlackMs) / HOUR);
    expect(lastText(domain)).toBe('- - - -');
  });

  it('delays the stay until no node shows the CDS set that requests the DS', () => {
    const domain = secureDomain();
    domain.want((machine) => disable(machine, false));
    domain.isCutOff = true;
    domain.show();
    domain.run(24 * 10);
    expect(domain.machine.waiting?.cause).toBe('nodes');
    domain.isCutOff = false;
    domain.run(24 * 6);
    expect(domain.machine.waiting?.cause).toBe('stay');
    domain.run(24 * 2);
    expect(domain.machine.serving.keys).toEqual([]);
  });

  it('holds every step if our nodes have keys that are not in the database', () => {
    const domain = secureDomain();
    domain.isPreflown = false;
    const preflight = { at: domain.at, verifiedBy: ['a'], hasStrangers: true };
    domain.machine = { ...domain.machine, preflight };
    domain.want((machine) => roll(machine, [B], false));
    domain.run(24 * 9);
    expect(domain.machine.waiting?.cause).toBe('strangers');
  });
});

const DAYS = 24;
const foreign = (id: string, role: 'ksk' | 'zsk'): MachineKey => ({
  ...madeKey(id, role, 13),
  isForeign: true,
});
/** Their keys: one with a DS, one that signs data. */
const F = foreign('f', 'ksk');
const G = foreign('g', 'zsk');

type Operator = 'ours' | 'theirs';
type Served = Pick<QuietDomain['machine']['serving'], 'keys' | 'keySigners' | 'dataSigners'>;

interface Moment {
  readonly at: number;
  readonly ds: readonly string[];
  /** What the operators serve to resolvers. */
  readonly served: readonly Served[];
}

/** Two operators of one domain, and what resolvers may have cached from them. */
class TwoOperators {
  readonly domain = new QuietDomain();
  /** The operator that the parent lists. */
  named: Operator = 'ours';
  /** Their DNSKEY set. F signs it, and G signs the rest. */
  theirKeys: readonly string[] = ['f', 'g'];
  theirSigners = { keySigners: ['f'], dataSigners: ['g'] };
  #moments: Moment[] = [];
  #namedSince = 0;
  #before: Operator | undefined;

  nameServers(of: Operator): void {
    this.#before = this.named;
    this.named = of;
    this.#namedSince = this.domain.at;
    this.domain.delegation =
      of === 'ours'
        ? { kind: 'ours', since: this.domain.at, ttl: 3600, isFirst: false }
        : { kind: 'not_ours', elsewhereSince: this.domain.at };
  }

  run(hours: number, when: () => boolean = () => false): void {
    for (let hour = 0; hour < hours && !when(); hour++) {
      const ours = this.theirKeys.filter((id) => id !== 'f' && id !== 'g');
      this.domain.theirs = this.named === 'theirs' ? ours : undefined;
      this.domain.run(1);
      this.#record();
      const bogus = this.#bogus();
      if (bogus.length > 0) expect.fail(`${bogus.join('; ')} after ${stepsOf(this.domain).join('; ')}`);
    }
  }

  #record(): void {
    const { machine, at, shown } = this.domain;
    const isOldAsked = this.#before !== undefined && at - this.#namedSince <= HOUR;
    const asked = isOldAsked ? [this.named, this.#before] : [this.named];
    const theirs = { keys: this.theirKeys, ...this.theirSigners };
    this.#moments.push({
      at,
      ds: [A, B, F, KSK].filter((key) => shown[0]?.includes(dsOf(key))).map(({ id }) => id),
      served: asked.map((operator) => (operator === 'ours' ? machine.serving : theirs)),
    });
  }

  /** TTLs are an hour, and a cache may have a DS set from its last minute. */
  #bogus(): string[] {
    this.#moments = this.#moments.filter(({ at }) => at >= this.domain.at - HOUR);
    const cached = this.#moments;
    const served = cached.flatMap((moment) => moment.served);
    const combinations = cached
      .filter(({ ds }) => ds.length > 0)
      .flatMap(({ ds }) => served.flatMap((keySet) => served.map((data) => ({ ds, keySet, data }))));
    return combinations
      .filter(
        ({ ds, keySet, data }) =>
          !keySet.keySigners.some((id) => ds.includes(id)) ||
          !data.dataSigners.some((id) => keySet.keys.includes(id)),
      )
      .map(({ ds, keySet, data }) => `DS ${ds} keys ${keySet.keys} data ${data.dataSigners}`);
  }

  codes(): string[] {
    const { machine, at } = this.domain;
    const to = this.named === 'ours' ? 'ours' : 'elsewhere';
    return dnssecFindings(machine, to, at, RULES).map(({ code }) => code);
  }
}

const adding = (key: MachineKey) => ({ action: 'add', add: [dsOf(key)], remove: [] });

function movingIn() {
  const two = new TwoOperators();
  two.named = 'theirs';
  two.domain.delegation = { kind: 'not_ours' };
  two.domain.show(dsOf(F));
  two.domain.want((m) => enable(m, [A]));
  return { two, domain: two.domain };
}

describe('a domain that moves here signed', () => {
  it('has DS records of both operators before its nameservers change, and is never bogus or insecure', () => {
    const { two, domain } = movingIn();
    two.run(3 * DAYS);
    expect(dnssecStatus(domain.machine, RULES)).toBe('broken');
    expect(two.codes()).toContain('DS_OTHER');
    domain.want((m) => setForeign(m, [F, G]));
    two.run(2);
    expect(domain.machine.serving).toEqual({ keys: ['a', 'f', 'g'], keySigners: ['a'], dataSigners: ['a'] });
    expect(two.codes()).not.toContain('DS_OTHER');
    expect(dnssecStatus(domain.machine, RULES)).toBe('waiting');

    // no DS is requested while their servers do not show our key
    two.run(5 * DAYS);
    expect(domain.machine.waiting).toMatchObject({ cause: 'foreign', keys: ['a', 'a'] });
    two.theirKeys = ['f', 'g', 'a'];
    two.run(3 * DAYS, () => domain.machine.asked.length > 0);
    expect(domain.machine.asked).toEqual(['a', 'f']);
    expect(registrarAction(domain.machine, RULES)).toMatchObject(adding(A));
    expect(two.codes()).toContain('FOREIGN_NS_WAIT');
    domain.show(dsOf(A), dsOf(F));
    two.run(5 * DAYS, () => two.codes().includes('FOREIGN_NS_READY'));
    expect(two.codes()).toContain('FOREIGN_NS_READY');

    two.nameServers('ours');
    two.run(2 * DAYS);
    domain.want((m) => setForeign(m, []));
    two.run(1 * DAYS);
    expect(domain.machine.asked).toEqual(['a']);
    expect(two.codes()).toContain('FOREIGN_KEYS_STAY');
    // their ZSK is removed with their data, and the key of their DS not before the DS
    two.run(14 * DAYS);
    expect(domain.machine.serving.keys).toEqual(['a', 'f']);
    expect(registrarAction(domain.machine, RULES)).toMatchObject({ action: 'remove', remove: [dsOf(F)] });
    domain.show(dsOf(A));
    two.run(12 * DAYS);
    expect(domain.machine.serving.keys).toEqual(['a']);
    expect(dnssecStatus(domain.machine, RULES)).toBe('secure');
    expect(domain.machine.waiting).toBeNull();
  });

  it("keeps their keys while resolvers may have data signed with them, regardless of the owner's list", () => {
    const { two, domain } = movingIn();
    domain.want((m) => setForeign(m, [F, G]));
    two.theirKeys = ['f', 'g', 'a'];
    two.run(8 * DAYS, () => domain.machine.asked.length > 0);
    domain.show(dsOf(A), dsOf(F));
    two.run(3 * DAYS);
    domain.want((m) => setForeign(m, [F]));
    two.run(10 * DAYS);
    expect(domain.machine.serving.keys).toEqual(['a', 'f', 'g']);
    two.nameServers('ours');
    two.run(1 * DAYS);
    expect(domain.machine.serving.keys).toEqual(['a', 'f', 'g']);
    two.run(4 * DAYS);
    expect(domain.machine.serving.keys).toEqual(['a', 'f']);
  });

  it('can abort immediately while the parent shows no DS of ours', () => {
    const { two, domain } = movingIn();
    domain.want((m) => setForeign(m, [G]));
    two.run(5);
    domain.want((m) => setForeign(m, []));
    two.run(5);
    expect(domain.machine.serving.keys).toEqual(['a']);
  });
});

describe('a domain that moves here with its keys', () => {
  /** The parent lists the other operator, and shows the DS of the imported key. */
  function imported(keys: readonly MachineKey[], signers: { keySigners: string[]; dataSigners: string[] }) {
    const two = new TwoOperators();
    two.named = 'theirs';
    two.theirKeys = keys.map(({ id }) => id);
    two.theirSigners = signers;
    two.domain.delegation = { kind: 'not_ours' };
    two.domain.show(dsOf(keys[0] as MachineKey));
    two.domain.want((m) => adopt(m, keys, []));
    return { two, domain: two.domain };
  }
  const byA = { keySigners: ['a'], dataSigners: ['a'] };
  const bySplit = { keySigners: ['k'], dataSigners: ['y'] };

  it("is signed with them immediately, keeps its DS, and is never bogus with either operator's answers", () => {
    const { two, domain } = imported([A], byA);
    expect(two.codes()).toContain('FOREIGN_NS_WAIT');
    domain.want((m) => share(m, ['a'], false));
    two.run(3);
    expect(domain.machine.serving).toEqual({ keys: ['a'], ...byA });
    expect(two.codes()).toEqual(['FOREIGN_NS_READY']);
    expect(registrarAction(domain.machine, RULES)).toMatchObject({ add: [], remove: [] });
    expect(dnssecStatus(domain.machine, RULES)).toBe('secure');
    two.nameServers('ours');
    two.run(14 * DAYS);
    expect(domain.steps.map(({ text }) => text)).toEqual(['a a a a']);
    expect(two.codes()).toEqual([]);
  });

  it('has both keys of a split zone from its first signature', () => {
    const { two, domain } = imported([KSK, ZSK], bySplit);
    two.run(2 * DAYS);
    two.nameServers('ours');
    two.run(5 * DAYS);
    expect(domain.steps.map(({ text }) => text)).toEqual(['ky k y k']);
  });

  it('is signed only with the imported KSK, next to the public ZSK whose signatures caches have', () => {
    const csk = madeKey('k', 'csk', 13);
    const { two, domain } = imported([csk, G], { keySigners: ['k'], dataSigners: ['g'] });
    domain.machine = newMachine(domain.at, domain.dataTtl);
    domain.want((m) => adopt(m, [csk], []));
    domain.want((m) => setForeign(m, [G]));
    two.run(2 * DAYS);
    expect(domain.machine.serving).toEqual({ keys: ['g', 'k'], keySigners: ['k'], dataSigners: ['k'] });
    two.nameServers('ours');
    two.run(1);
    domain.want((m) => setForeign(m, []));
    two.run(1 * DAYS);
    expect(domain.machine.serving.keys).toEqual(['g', 'k']);
    two.run(5 * DAYS);
    expect(domain.machine.serving.keys).toEqual(['k']);
  });

  it('signs data with the ZSK if the pair is imported after the KSK alone', () => {
    const { two, domain } = imported([KSK, ZSK], bySplit);
    domain.machine = newMachine(domain.at, domain.dataTtl);
    domain.want((m) => adopt(m, [madeKey('k', 'csk', 13)], []));
    two.run(2 * DAYS);
    expect(sharedInPlace(domain.machine, ['k'])).toEqual([]);
    expect(keysWithDs(domain.machine, ['k'], RULES)).toEqual([]);
    domain.want((m) => adopt(m, [KSK, ZSK], ['k']));
    two.run(2 * DAYS);
    two.nameServers('ours');
    two.run(10 * DAYS);
    expect(domain.machine.serving).toEqual({ keys: ['k', 'y'], ...bySplit });
  });

  it('has a key that others may sign with, until it is disabled and no longer served', () => {
    const { domain } = imported([A], byA);
    const inPlace = (...ids: string[]) => sharedInPlace(domain.machine, ids).map(({ id }) => id);
    expect([inPlace(), inPlace('a')]).toEqual([['a'], []]);
    domain.run(3);
    domain.want((m) => disable(m, false));
    expect(inPlace()).toEqual(['a']);
    domain.show();
    domain.run(20 * DAYS);
    expect(inPlace()).toEqual([]);
  });

  it('gets another key only when no resolver queries the other operator or has its answers', () => {
    const { two, domain } = imported([A], byA);
    two.run(5 * DAYS);
    domain.want((m) => roll(m, [B], false));
    two.run(10 * DAYS);
    expect(domain.machine.serving).toEqual({ keys: ['a', 'b'], keySigners: ['a', 'b'], dataSigners: ['a'] });
    two.nameServers('ours');
    two.run(1 * DAYS);
    expect(domain.machine.serving.dataSigners).toEqual(['a']);
    two.run(6 * DAYS, () => domain.machine.asked.includes('b'));
    expect(domain.machine.serving.dataSigners).toEqual(['b']);
    domain.show(dsOf(B));
    two.run(12 * DAYS);
    expect(domain.machine.serving.keys).toEqual(['b']);
  });

  it('must not change its nameservers while something is missing at either operator', () => {
    const { domain } = imported([A], byA);
    domain.theirs = ['a'];
    const told = (hours: number) => {
      domain.run(hours);
      const found = dnssecFindings(domain.machine, 'elsewhere', domain.at, RULES);
      return found.find(({ code }) => code === 'FOREIGN_NS_WAIT')?.message;
    };
    domain.isCutOff = true;
    expect(told(3)).toMatch(/not all nameservers/);
    domain.isCutOff = false;
    domain.isPreflown = false;
    expect(told(3)).toMatch(/have not been validated yet/);
    domain.isPreflown = true;
    domain.failure = 'a fault';
    expect(told(3)).toMatch(/do not validate: a fault/);
    domain.failure = undefined;
    domain.theirs = [];
    expect(told(1)).toMatch(/do not show the imported keys/);
    domain.theirs = ['a'];
    expect(told(1)).toBeUndefined();
    domain.machine = {
      ...domain.machine,
      foreign: { ...NO_FOREIGN_KEYS, shows: { keys: ['a'], since: 0, ttl: 60, hasOthers: true } },
    };
    expect(dnssecFindings(domain.machine, 'elsewhere', domain.at, RULES)[0]?.message).toMatch(
      /does not have/,
    );
  });

  it('replaces a key only if no DS matched it', () => {
    const domain = new QuietDomain();
    domain.want((m) => enable(m, [B]));
    domain.delegation = { kind: 'not_ours' };
    domain.run(10 * DAYS);
    domain.show(dsOf(A));
    domain.want((m) => adopt(m, [A], []));
    domain.run(1);
    expect(domain.machine.serving).toEqual({ keys: ['a'], ...byA });
    const other = new QuietDomain();
    other.want((m) => enable(m, [B]));
    other.run(10 * DAYS, ({ asked }) => asked.length > 0);
    expect(keysWithDs(other.machine, [], RULES)).toEqual(['b']);
    other.show(dsOf(B));
    other.run(2);
    expect(keysWithDs({ ...other.machine, asked: [] }, [], RULES)).toEqual(['b']);
    expect(keysWithDs({ ...other.machine, asked: [], atLarge: [] }, [], RULES)).toEqual(['b']);
    expect(keysWithDs(other.machine, ['b'], RULES)).toEqual([]);
  });
});

it('a domain that leaves with its keys keeps its DS without a finding that asks to remove it, and can return with the same keys', () => {
  const two = new TwoOperators();
  const { domain } = two;
  domain.want((m) => enable(m, [A]));
  two.run(10 * DAYS, () => domain.machine.asked.length > 0);
  domain.show(dsOf(A));
  two.run(2 * DAYS);
  domain.want((m) => share(m, ['a'], true));
  expect(two.codes()).toEqual([]);
  two.theirKeys = ['a'];
  two.theirSigners = { keySigners: ['a'], dataSigners: ['a'] };
  two.nameServers('theirs');
  two.run(10 * DAYS);
  expect(two.codes()).toEqual([]);
  expect(registrarAction(domain.machine, RULES).action).toBe('none');
  expect(domain.machine.serving.keys).toEqual(['a']);
  domain.want((m) => adoptAgain(m, ['a']));
  two.run(1);
  expect(two.codes()).toEqual(['FOREIGN_NS_READY']);
  expect(adoptAgain(domain.machine, ['a'])).toBe(domain.machine);
  // A new key here would not validate at the other operator.
  domain.want((m) => roll(m, [B], false));
  two.run(10 * DAYS);
  expect(domain.machine.serving.dataSigners).toEqual(['a']);
  expect(domain.machine.asked).toEqual(['a']);
});

describe('a domain that leaves signed', () => {
  function leaving() {
    const two = new TwoOperators();
    const { domain } = two;
    domain.want((m) => enable(m, [A]));
    two.run(10 * DAYS, () => domain.machine.asked.length > 0);
    domain.show(dsOf(A));
    two.run(1 * DAYS);
    two.theirKeys = ['f', 'g', 'a'];
    domain.want((m) => setForeign(m, [F, G]));
    two.run(3 * DAYS);
    return { two, domain };
  }

  it('requests their DS, then allows the change of nameservers, and keeps signing until its own DS is gone', () => {
    const { two, domain } = leaving();
    expect(domain.machine.asked).toEqual(['a', 'f']);
    expect(registrarAction(domain.machine, RULES)).toMatchObject(adding(F));
    expect(dnssecStatus(domain.machine, RULES)).toBe('secure');
    domain.show(dsOf(A), dsOf(F));
    two.run(5 * DAYS, () => two.codes().includes('FOREIGN_NS_READY'));
    two.nameServers('theirs');
    two.run(3 * DAYS);
    expect(two.codes()).not.toContain('DS_LEFT_BEHIND');
    domain.want((m) => disable(m, false));
    two.run(2 * DAYS);
    expect(registrarAction(domain.machine, RULES)).toMatchObject({ action: 'remove', remove: [dsOf(A)] });
    domain.show(dsOf(F));
    two.run(12 * DAYS);
    expect(dnssecStatus(domain.machine, RULES)).toBe('off');
  });

  it('stays signed while resolvers query our servers and the parent shows their DS', () => {
    const { two, domain } = leaving();
    domain.show(dsOf(A), dsOf(F));
    two.run(3 * DAYS);
    domain.want((m) => disable(m, false));
    two.run(14 * DAYS);
    expect(domain.machine.serving.keys).toEqual(['a', 'f', 'g']);
    expect(domain.machine.waiting?.cause).toBe('ds_unwanted');
    domain.show();
    two.run(12 * DAYS);
    expect(domain.machine.serving.keys).toEqual([]);
  });

  it('gets no other key meanwhile, because their servers do not show it', () => {
    const { domain } = leaving();
    expect(roll(domain.machine, [B], false)).toBe('busy');
  });
});

describe('a list of keys', () => {
  const made = (flags: number = KEY_FLAGS.ENTRY, algorithm: 13 | 15 = 13): ForeignKeyFields => {
    const publicKey = makeKey(algorithm, flags).dnskey.subarray(4);
    return { flags, protocol: 3, algorithm, publicKey };
  };
  const judge = (...keys: ForeignKeyFields[]) => judgeForeignKeys(keys, { algorithm: 13, ours: [] });

  it('of up to four, with and without DS, is accepted', () => {
    expect(judge(made(), made(256), made(), made(256))).toBeUndefined();
    expect(judge()).toBeUndefined();
  });

  it.each([
    ['a fifth key', [made(), made(), made(), made(), made()], 4, 'more than 4'],
    ['flags of a non-zone key', [{ ...made(), flags: 1 }], 0, 'flags'],
    ['a revoked key', [made(), { ...made(), flags: 385 }], 1, 'flags'],
    ['another protocol', [{ ...made(), protocol: 4 }], 0, 'protocol'],
    ['a truncated key', [{ ...made(), publicKey: made().publicKey.subarray(1) }], 0, 'public key'],
    [
      'a point that is not on a curve',
      [{ ...made(), publicKey: new Uint8Array(64).fill(7) }],
      0,
      'public key',
    ],
    ['an empty key', [{ ...made(), publicKey: new Uint8Array() }], 0, 'public key'],
  ])('with %s is rejected, and the message names the key', (_, keys, index, message) => {
    expect(judge(...keys)).toMatchObject({
      kind: 'invalid',
      index,
      message: expect.stringContaining(message),
    });
  });

  it('of another algorithm is rejected for any size', () => {
    const rsa = { flags: 257, protocol: 3, algorithm: 8, publicKey: new Uint8Array(65_000) };
    expect(judge(made(), rsa)).toMatchObject({ kind: 'algorithm', index: 1 });
    expect(judge(made(257, 15))).toMatchObject({ kind: 'algorithm' });
  });

  it('with a duplicate key, or a key of this fleet, is rejected', () => {
    const key = made();
    expect(judge(key, made(), key)).toMatchObject({ index: 2, message: expect.stringContaining('twice') });
    const ours = [foreignDnskey(key)];
    expect(judgeForeignKeys([key], { algorithm: 13, ours })).toMatchObject({
      message: expect.stringContaining('already'),
    });
  });
});
