// Another operator signs the same domain: before it comes here, and after it has left. At each hour no resolver that holds what
// either has served, in any combination, finds it bogus.

import { describe, expect, it } from 'vitest';
import {
  type ForeignKeyFields,
  foreignDnskey,
  judgeForeignKeys,
} from '../../../src/checks/dnssec/foreign-key.ts';
import { disable, enable, roll, setForeign } from '../../../src/checks/dnssec/goals.ts';
import type { MachineKey } from '../../../src/checks/dnssec/machine-key.ts';
import { RULES } from '../../../src/checks/dnssec/rules.ts';
import { dnssecFindings } from '../../../src/checks/dnssec/told/dnssec-findings.ts';
import { dnssecStatus } from '../../../src/checks/dnssec/told/dnssec-status.ts';
import { registrarAction } from '../../../src/checks/dnssec/told/registrar-action.ts';
import { KEY_FLAGS, makeKey } from '../../../src/zone/signing/signing-key.ts';
import { dsOf, madeKey } from '../../support/simulation/dnssec/made-keys.ts';
import { HOUR, QuietDomain } from '../../support/simulation/dnssec/quiet-domain.ts';

const DAYS = 24;
const A = madeKey('a', 'csk', 13);
const B = madeKey('b', 'csk', 13);
const foreign = (id: string, role: 'ksk' | 'zsk'): MachineKey => ({
  ...madeKey(id, role, 13),
  isForeign: true,
});
/** Theirs: one with a DS, one that signs data. */
const F = foreign('f', 'ksk');
const G = foreign('g', 'zsk');

type Operator = 'ours' | 'theirs';
type Served = Pick<QuietDomain['machine']['serving'], 'keys' | 'keySigners' | 'dataSigners'>;

interface Moment {
  readonly at: number;
  readonly ds: readonly string[];
  /** What the operators serve that resolvers may ask. */
  readonly served: readonly Served[];
}

/** Two operators of one domain, and what resolvers may have cached of them. */
class TwoOperators {
  readonly domain = new QuietDomain();
  /** The operator that the parent names. */
  named: Operator = 'ours';
  /** Their DNSKEY set; F signs it, G signs the rest. */
  theirKeys: readonly string[] = ['f', 'g'];
  readonly #moments: Moment[] = [];
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
      expect(this.#bogus(), this.domain.steps.map(({ kind, text }) => `${kind} ${text}`).join('; ')).toEqual(
        [],
      );
    }
  }

  #record(): void {
    const { machine, at, shown } = this.domain;
    const isOldAsked = this.#before !== undefined && at - this.#namedSince <= HOUR;
    const asked = isOldAsked ? [this.named, this.#before] : [this.named];
    const theirs = { keys: this.theirKeys, keySigners: ['f'], dataSigners: ['g'] };
    this.#moments.push({
      at,
      ds: [A, B, F].filter((key) => shown[0]?.includes(dsOf(key))).map(({ id }) => id),
      served: asked.map((operator) => (operator === 'ours' ? machine.serving : theirs)),
    });
  }

  /** TTLs are an hour, and a cache may have a DS set of its last minute. */
  #bogus(): string[] {
    const cached = this.#moments.filter(({ at }) => at >= this.domain.at - HOUR);
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

describe('a domain that comes here signed', () => {
  it('has a DS of ours beside theirs before its nameservers change, and is never bogus or insecure', () => {
    const { two, domain } = movingIn();
    two.run(3 * DAYS);
    expect(dnssecStatus(domain.machine, RULES)).toBe('broken');
    expect(two.codes()).toContain('DS_OTHER');
    domain.want((m) => setForeign(m, [F, G]));
    two.run(2);
    expect(domain.machine.serving).toEqual({ keys: ['a', 'f', 'g'], keySigners: ['a'], dataSigners: ['a'] });
    expect(two.codes()).not.toContain('DS_OTHER');
    expect(dnssecStatus(domain.machine, RULES)).toBe('waiting');

    // nothing is asked for while their servers do not show our key
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
    // what signed their data goes with that, and the key of their DS not before the DS
    two.run(20 * DAYS);
    expect(domain.machine.serving.keys).toEqual(['a', 'f']);
    expect(registrarAction(domain.machine, RULES)).toMatchObject({ action: 'remove', remove: [dsOf(F)] });
    domain.show(dsOf(A));
    two.run(12 * DAYS);
    expect(domain.machine.serving.keys).toEqual(['a']);
    expect(dnssecStatus(domain.machine, RULES)).toBe('secure');
    expect(domain.machine.waiting).toBeNull();
  });

  it('keeps their keys while resolvers may hold what these have signed, whatever the owner takes from the list', () => {
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

  it('can give up at once while the parent shows no DS of ours', () => {
    const { two, domain } = movingIn();
    domain.want((m) => setForeign(m, [G]));
    two.run(5);
    domain.want((m) => setForeign(m, []));
    two.run(5);
    expect(domain.machine.serving.keys).toEqual(['a']);
  });
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

  it('tells their DS to add, then that the nameservers can change, and keeps signing until its own is gone', () => {
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

  it('stays signed for as long as our servers are asked and the parent shows their DS', () => {
    const { two, domain } = leaving();
    domain.show(dsOf(A), dsOf(F));
    two.run(3 * DAYS);
    domain.want((m) => disable(m, false));
    two.run(20 * DAYS);
    expect(domain.machine.serving.keys).toEqual(['a', 'f', 'g']);
    expect(domain.machine.waiting?.cause).toBe('ds_unwanted');
    domain.show();
    two.run(12 * DAYS);
    expect(domain.machine.serving.keys).toEqual([]);
  });

  it('is given no other key meanwhile: their servers do not show that', () => {
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

  it('of up to four, with and without DS, is taken', () => {
    expect(judge(made(), made(256), made(), made(256))).toBeUndefined();
    expect(judge()).toBeUndefined();
  });

  it.each([
    ['a fifth key', [made(), made(), made(), made(), made()], 4, 'more than 4'],
    ['flags of no zone key', [{ ...made(), flags: 1 }], 0, 'flags'],
    ['a revoked key', [made(), { ...made(), flags: 385 }], 1, 'flags'],
    ['another protocol', [{ ...made(), protocol: 4 }], 0, 'protocol'],
    ['a key cut short', [{ ...made(), publicKey: made().publicKey.subarray(1) }], 0, 'public key'],
    ['a point that is on no curve', [{ ...made(), publicKey: new Uint8Array(64).fill(7) }], 0, 'public key'],
    ['an empty key', [{ ...made(), publicKey: new Uint8Array() }], 0, 'public key'],
  ])('with %s is refused, and says which', (_, keys, index, message) => {
    expect(judge(...keys)).toMatchObject({
      kind: 'invalid',
      index,
      message: expect.stringContaining(message),
    });
  });

  it('of another algorithm is refused as such, for any size', () => {
    const rsa = { flags: 257, protocol: 3, algorithm: 8, publicKey: new Uint8Array(65_000) };
    expect(judge(made(), rsa)).toMatchObject({ kind: 'algorithm', index: 1 });
    expect(judge(made(257, 15))).toMatchObject({ kind: 'algorithm' });
  });

  it('with a key twice, or with one of ours, is refused', () => {
    const key = made();
    expect(judge(key, made(), key)).toMatchObject({ index: 2, message: expect.stringContaining('twice') });
    const ours = [foreignDnskey(key)];
    expect(judgeForeignKeys([key], { algorithm: 13, ours })).toMatchObject({
      message: expect.stringContaining('already'),
    });
  });
});
