// The timelines of RFC 7583 and RFC 6781 §4: none of them is written down in the machine.

import { describe, expect, it } from 'vitest';
import { abort, disable, enable, roll } from '../../../src/checks/dnssec/goals.ts';
import type { MachineKey } from '../../../src/checks/dnssec/machine-key.ts';
import { RULES } from '../../../src/checks/dnssec/rules.ts';
import { dsOf, madeKey } from '../../support/simulation/dnssec/made-keys.ts';
import { DAY, HOUR, QuietDomain } from '../../support/simulation/dnssec/quiet-domain.ts';

const A = madeKey('a', 'csk', 13);
const B = madeKey('b', 'csk', 13);
const E = madeKey('e', 'csk', 15);
const KSK = madeKey('k', 'ksk', 13);
const ZSK = madeKey('y', 'zsk', 13);
const NEXT_ZSK = madeKey('z', 'zsk', 13);

/** Hours: a version is out of backups. One hour passes until a tick sees that all nodes have its successor. */
const BACKUP = Math.ceil((RULES.backupAfterMs + RULES.nodeSlackMs) / HOUR);
const cache = (ttl: number) => Math.ceil((ttl * 1000 + RULES.nodeSlackMs) / HOUR);
const STAY = RULES.stayMs / HOUR;

const withTtl = (ttl: { dataTtl?: number; dsTtl?: number }) => Object.assign(new QuietDomain(), ttl);

function secureDomain(keys = [A], domain = new QuietDomain()): QuietDomain {
  domain.run(1);
  domain.want((machine) => enable(machine, keys));
  domain.run(1000, ({ asked }) => asked.length > 0);
  domain.show(...domain.machine.keys.filter(({ ds }) => ds.length > 0).map(dsOf));
  domain.run(3);
  return domain;
}

/** Begins a roll to the key, and runs until its DS is asked for. */
function rollTo(domain: QuietDomain, key: MachineKey, urgent = false): void {
  domain.want((machine) => ok(roll(machine, [key], urgent)));
  domain.run(1000, ({ asked }) => asked.includes(key.id));
}

/** A domain that is being disabled, and whose parent no longer shows a DS. */
function disabling(now = false): QuietDomain {
  const domain = secureDomain();
  domain.want((machine) => disable(machine, now));
  domain.show();
  return domain;
}

const stepsOf = ({ steps }: QuietDomain, from = 0) =>
  steps.slice(from).map(({ kind, text }) => `${kind} ${text}`);
const hoursSince = ({ steps }: QuietDomain, from: number) => ((steps.at(-1)?.at ?? 0) - from) / HOUR;

function between(domain: QuietDomain, from: string, to: string): number {
  const last = (kind: string) => domain.steps.findLast((step) => step.kind === kind)?.at ?? Number.NaN;
  return (last(to) - last(from)) / HOUR;
}

describe('enabling (RFC 7583 §3.3.5: the DS comes when no cache lacks the keys)', () => {
  it('asks for the DS when the unsigned zone is out of caches and backups', () => {
    const domain = secureDomain();
    expect(stepsOf(domain)).toEqual(['sign a a a -', 'ask a a a a']);
    expect(between(domain, 'sign', 'ask')).toBe(1 + BACKUP);
  });

  it('waits for the largest TTL of the zone, negative answers included', () => {
    const domain = secureDomain([A], withTtl({ dataTtl: 2 * 86_400 }));
    expect(between(domain, 'sign', 'ask')).toBe(1 + cache(2 * 86_400));
  });

  it('waits until servers of before are asked no longer', () => {
    const domain = new QuietDomain();
    domain.delegation = { kind: 'ours', since: domain.at, ttl: 2 * 86_400, isFirst: false };
    expect(secureDomain([A], domain).hoursOf('ask')).toEqual([48 + RULES.oldServersMs / HOUR]);
  });

  it('asks for nothing while others serve the domain, or an answer does not verify', () => {
    const domain = new QuietDomain();
    domain.delegation = { kind: 'not_ours' };
    domain.failure = 'ns1 sends no signatures';
    domain.want((machine) => enable(machine, [A]));
    domain.run(30 * 24);
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

describe('rolling a CSK (RFC 6781 §4.1.2, double signature with one act of the owner)', () => {
  const domain = secureDomain();
  rollTo(domain, B);
  domain.run(24 * 40); // the registrar takes its time
  const before = domain.steps.length;
  domain.show(dsOf(B));
  const replacedAt = domain.at;
  domain.run(1000);

  it('publishes, signs data with the new key, asks for its DS alone, and withdraws the old key', () => {
    expect(stepsOf(domain, 2)).toEqual([
      'publish ab ab a a',
      'change_signatures ab ab b a',
      'ask ab ab b b',
      'withdraw b b b b',
    ]);
  });

  it('signs data with the new key when no cache has a DNSKEY set without it (RFC 7583 §3.2.1: Ipub = Dprp + TTLkey)', () => {
    expect(between(domain, 'publish', 'change_signatures')).toBe(1 + BACKUP);
  });

  it('keeps both keys for as long as the old DS is shown, and for the stay', () => {
    expect(before).toBe(5);
    expect((domain.steps[5]?.at ?? 0) - replacedAt).toBe((1 + STAY) * HOUR);
  });

  it('keeps the old key until no cache has its DS (RFC 7583 §3.3.1: Iret = DprpP + TTLds)', () => {
    const slow = secureDomain([A], withTtl({ dsTtl: 14 * 86_400 }));
    rollTo(slow, B);
    slow.show(dsOf(B));
    const from = slow.at;
    slow.run(1000);
    expect(slow.steps.at(-1)?.kind).toBe('withdraw');
    expect(hoursSince(slow, from)).toBe(2 + (14 * DAY + RULES.parentSlackMs) / HOUR);
  });

  it('goes on while the new DS stands beside the old one, which stays until the owner removes it', () => {
    const both = secureDomain();
    rollTo(both, B);
    both.show(dsOf(A), dsOf(B));
    both.run(24 * 100);
    expect(both.machine.waiting).toMatchObject({ cause: 'ds_unwanted', keys: ['a'] });
    both.show(dsOf(B));
    both.run(24 * 8);
    expect(both.steps.at(-1)?.kind).toBe('withdraw');
  });

  it('waits for TTLs only when the old key is known to others', () => {
    const hasty = secureDomain();
    rollTo(hasty, B, true);
    expect(between(hasty, 'publish', 'change_signatures')).toBe(1 + cache(3600));
    hasty.show(dsOf(B));
    const from = hasty.at;
    hasty.run(100);
    expect(hoursSince(hasty, from)).toBe(2 + (HOUR + RULES.parentSlackMs) / HOUR);
    expect(hasty.machine).toMatchObject({ urgent: false, serving: { keys: ['b'] } });
  });
});

describe('rolling a KSK alone', () => {
  it('leaves the ZSK as it is', () => {
    const domain = secureDomain([KSK, ZSK]);
    const next = madeKey('l', 'ksk', 13);
    rollTo(domain, next);
    domain.show(dsOf(next));
    domain.run(24 * 9);
    expect(stepsOf(domain, 2)).toEqual(['publish kly kl y k', 'ask kly kl y l', 'withdraw ly l y l']);
  });
});

describe('rolling a ZSK (RFC 6781 §4.1.1.1, RFC 7583 §3.2.1: pre-publication)', () => {
  const domain = secureDomain([KSK, ZSK], withTtl({ dataTtl: 2 * 86_400 }));
  domain.want((machine) => ok(roll(machine, [NEXT_ZSK], false)));
  domain.run(1000);

  it('publishes, signs, withdraws, and asks the registrar for nothing', () => {
    expect(stepsOf(domain)).toEqual([
      'sign ky k y -',
      'ask ky k y k',
      'publish kyz k y k',
      'change_signatures kyz k z k',
      'withdraw kz k z k',
    ]);
  });

  it('signs after the TTL of the DNSKEY set, and withdraws after that of the data (Iret = Dsgn + Dprp + TTLsig)', () => {
    expect(between(domain, 'publish', 'change_signatures')).toBe(1 + BACKUP);
    expect(between(domain, 'change_signatures', 'withdraw')).toBe(1 + cache(2 * 86_400));
  });
});

describe('changing the algorithm (RFC 6781 §4.1.4, the conservative way)', () => {
  const domain = secureDomain();
  rollTo(domain, E);
  domain.show(dsOf(E));
  domain.run(1000);

  it('has signatures before their key, and keys before their signatures go', () => {
    expect(stepsOf(domain, 2)).toEqual([
      'add_signatures a a ae a',
      'publish ae ae ae a',
      'ask ae ae ae e',
      'withdraw e e ae e',
      'change_signatures e e e e',
    ]);
    expect(between(domain, 'add_signatures', 'publish')).toBe(1 + BACKUP);
    expect(between(domain, 'withdraw', 'change_signatures')).toBe(1 + BACKUP);
  });
});

it('goes back to an algorithm whose old signatures are still there', () => {
  const domain = secureDomain();
  rollTo(domain, E);
  domain.show(dsOf(E));
  domain.run(1000, ({ serving }) => !serving.keys.includes('a'));
  rollTo(domain, B);
  domain.show(dsOf(B));
  domain.run(1000);
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

describe('disabling', () => {
  it('unsigns when no DS was seen for the stay', () => {
    const domain = secureDomain();
    domain.want((machine) => disable(machine, false));
    domain.run(24 * 100);
    expect(domain.steps.at(-1)?.text).toBe('a a a -');
    domain.show();
    const from = domain.at;
    domain.run(24 * 9);
    expect(domain.steps.at(-1)?.text).toBe('- - - -');
    expect(hoursSince(domain, from)).toBe(1 + STAY);
  });

  it('begins the stay again when a DS comes back', () => {
    const domain = disabling();
    domain.run(24 * 6);
    domain.show(dsOf(A));
    domain.run(1);
    domain.show();
    domain.run(24 * 6);
    expect(domain.machine.waiting?.cause).toBe('stay');
  });

  it('unsigns without the stay when the operator wants it now, but not before the TTL of the DS', () => {
    const domain = disabling(true);
    const from = domain.at;
    domain.run(48);
    expect(hoursSince(domain, from)).toBe(2 + (HOUR + RULES.parentSlackMs) / HOUR);
  });

  it('signs again with the same key when the DS comes back after it', () => {
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
    domain.run(1);
    domain.want((machine) => enable(machine, [A]));
    domain.run(1000, ({ asked }) => asked.length > 0);
    domain.delegation = { kind: 'not_ours' };
    return domain;
  };

  it('takes back what is asked for and not there yet, whether nodes follow or not', () => {
    const domain = away();
    domain.isCutOff = true;
    domain.run(1);
    expect(domain.steps.at(-1)).toMatchObject({ kind: 'ask_none', text: 'a a a -' });
  });

  it('asks again when the parent has shown our servers alone for long enough', () => {
    const domain = away();
    domain.run(24 * 9);
    expect([domain.machine.waiting?.cause, domain.machine.goal]).toEqual(['delegation', 'signed']);
    domain.delegation = { kind: 'ours', since: domain.at, ttl: 3600, isFirst: false };
    const from = domain.at;
    domain.run(24 * 9);
    expect(domain.steps.at(-1)?.text).toBe('a a a a');
    expect(hoursSince(domain, from)).toBe(1 + RULES.oldServersMs / HOUR);
  });

  it('leaves a DS asked for that is there: without it the domain would be no better off', () => {
    const domain = secureDomain();
    domain.delegation = { kind: 'not_ours' };
    domain.run(24 * 9);
    expect(domain.machine.asked).toEqual(['a']);
  });
});

describe('giving up', () => {
  it('goes back from wherever it is, with the same care', () => {
    const domain = secureDomain();
    rollTo(domain, B);
    domain.show(dsOf(B));
    domain.run(5);
    domain.want((machine) => ok(abort(machine)));
    expect(abort(domain.machine)).toBe('nothing'); // a repeat does not take it back
    domain.run(5);
    expect(domain.steps.slice(-2).map(({ text }) => text)).toEqual(['ab ab a b', 'ab ab a a']);
    domain.show(dsOf(A));
    domain.run(24 * 9);
    expect(domain.steps.at(-1)?.text).toBe('a a a a');
  });
});

describe('what was not seen', () => {
  it('a restored database waits as if everything had been seen just now', () => {
    const domain = disabling();
    domain.run(24 * 7 - 5);
    domain.epoch = 'restored';
    domain.run(24 * 7);
    expect(domain.machine.waiting?.cause).toBe('stay');
    domain.run(24 * 3);
    expect(domain.machine.serving.keys).toEqual([]);
  });

  it('a restored database brings back no key of another algorithm before that', () => {
    const domain = secureDomain();
    rollTo(domain, E);
    domain.show(dsOf(E));
    domain.run(1000);
    const before = domain.steps.length;
    domain.epoch = 'restored';
    domain.show(dsOf(A));
    domain.run(24);
    expect([domain.machine.hold?.cause, domain.steps.length]).toEqual(['restore', before]);
    domain.run(24 * 3);
    expect(domain.steps.slice(before).map(({ kind }) => kind)).toEqual(['bring_back', 'bring_back']);
  });

  it('a clock that goes back makes all waits begin again', () => {
    const domain = disabling();
    domain.run(24 * 7 - 5);
    domain.at -= 3 * HOUR;
    domain.run(24 * 6);
    expect(domain.machine.serving.keys).toEqual(['a']);
    domain.run(24 * 2);
    expect(domain.machine.serving.keys).toEqual([]);
  });

  it('observations with a day between them begin the stay again', () => {
    const domain = disabling();
    domain.run(24 * 6);
    domain.at += 30 * HOUR;
    domain.run(24);
    expect(domain.machine.waiting?.cause).toBe('stay');
  });

  it('a DS may have come and gone meanwhile, and caches may hold it', () => {
    const domain = secureDomain([A], withTtl({ dsTtl: 10 * 86_400 }));
    domain.want((machine) => disable(machine, false));
    domain.show();
    domain.run(24 * 2);
    domain.at += 6 * DAY;
    domain.run(1);
    const from = domain.at;
    domain.run(24 * 20);
    expect(domain.steps.at(-1)?.text).toBe('- - - -');
    expect(hoursSince(domain, from)).toBe(1 + (10 * DAY + RULES.parentSlackMs) / HOUR);
  });

  it('the stay begins when no node shows the CDS set any more that asks for the DS', () => {
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

  it('keys at our nodes that the database does not know hold every step', () => {
    const domain = secureDomain();
    domain.isPreflown = false;
    const preflight = { at: domain.at, verifiedBy: ['a'], hasStrangers: true };
    domain.machine = { ...domain.machine, preflight };
    domain.want((machine) => ok(roll(machine, [B], false)));
    domain.run(24 * 9);
    expect(domain.machine.waiting?.cause).toBe('strangers');
  });
});

function ok<T>(value: T | string): T {
  if (typeof value === 'string') throw new Error(value);
  return value;
}
