// The worst possible chains cost one check no more than docs/rules.md "Validation" allows: keys that share a tag, many
// signatures, many DS records (KeyTrap, CVE-2023-50387), and names that are expensive to hash (CVE-2023-50868).

import { afterEach, describe, expect, it, vi } from 'vitest';
import { ValidationBudget } from '../../src/checks/validation/budget.ts';
import type { Message, MessageRecord } from '../../src/dns/message/message.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import type { DenialStyle } from '../support/dnssec/denial-chain.ts';
import { SignedExchange } from '../support/dnssec/signed-exchange.ts';
import { SignedZone } from '../support/dnssec/signed-zone.ts';
import { dsOf, makeKey } from '../support/dnssec/signing.ts';
import { ROOT_A, ROOT_B, testResolver } from '../support/world/test-resolver.ts';
import { name } from '../support/world/zone-exchange.ts';

const NOW = 1_700_000_000;
const TIME = { inception: NOW - 100_000, expiration: NOW + 100_000 };
const ROOT_KEY = makeKey(13);
const KEY = makeKey(13);
const TRAP = name('trap');
const RIGHT = dsOf(TRAP, KEY);
/** As many as one message may have. A larger set of records is rejected unread. */
const MANY = 200;
const NSEC3: DenialStyle = { kind: 'nsec3', iterations: 100, salt: new Uint8Array(255), optOut: false };

/** Other keys with the same tag: octets of equal weight change places (RFC 4034 B). */
const TWINS = Array.from({ length: MANY }, (_, i) => {
  const rdata = Uint8Array.from(KEY.rdata);
  const [a, b] = [4 + 2 * (i % 20), 45 - 1 + 2 * (Math.floor(i / 20) % 10)];
  [rdata[a], rdata[b]] = [rdata[b] as number, rdata[a] as number];
  rdata[4] = (rdata[4] as number) ^ (i & 1);
  return rdata;
}).filter((rdata) => Buffer.compare(rdata, KEY.rdata) !== 0);

/** A wrong signature with the right tag, key and time. */
function spoilt(record: MessageRecord, i: number): MessageRecord {
  const rdata = Uint8Array.from(record.rdata);
  rdata.set([i >> 8, i & 255], rdata.length - 3);
  return { ...record, rdata };
}

/** Many signatures of each of these types, all of them wrong. */
const trapped =
  (...types: readonly number[]) =>
  (message: Message): Message => {
    const grow = (record: MessageRecord) =>
      record.type === TYPE.RRSIG && types.includes(record.rdata[1] as number)
        ? Array.from({ length: MANY }, (_, i) => spoilt(record, i))
        : [record];
    return {
      ...message,
      answers: message.answers.flatMap(grow),
      authorities: message.authorities.flatMap(grow),
    };
  };

interface Trap {
  readonly ds?: readonly Uint8Array[];
  readonly idle?: readonly Uint8Array[];
  readonly denial?: DenialStyle;
  readonly addresses?: number;
  readonly alter?: (message: Message) => Message;
}

async function check(asked: string, { ds = [RIGHT], idle = [], denial = NSEC3, addresses = 1, alter }: Trap) {
  const places = Array.from({ length: addresses }, (_, i) => `192.5.6.${i + 1}`);
  const servers = places.map((address, i) => `trap NS ns${i}.gtld.\nns${i}.gtld. A ${address}`);
  const root = new SignedZone({
    apex: name('.'),
    text: `@ NS a.root.\n${servers.join('\n')}`,
    ds: new Map([[TRAP, ds]]),
    keys: { entry: [ROOT_KEY], others: [] },
    time: TIME,
    denial: { kind: 'nsec' },
  });
  const trap = new SignedZone({
    apex: TRAP,
    text: '@ NS ns0.gtld.\na.b A 192.0.2.1',
    keys: { entry: [KEY], others: [], idle },
    time: TIME,
    denial,
  });
  const exchange = new SignedExchange().serve(ROOT_A, root).serve(ROOT_B, root);
  for (const [server, address] of places.entries()) {
    exchange.serve(address, trap);
    // Each server has different junk, so that results cannot be shared.
    const other = (message: Message): Message => {
      const change = (record: MessageRecord, i: number) =>
        record.type === TYPE.RRSIG && addresses > 1 && record.rdata[1] === TYPE.NSEC3
          ? spoilt(record, 1000 * server + i)
          : record;
      return { ...message, authorities: message.authorities.map(change) };
    };
    exchange.alter(address, (message) => other(alter?.(message) ?? message));
  }
  const { observe } = testResolver(exchange, { trustAnchors: () => [dsOf(name('.'), ROOT_KEY)] });
  const budgets = new Set<ValidationBudget>();
  const { verify } = ValidationBudget.prototype;
  vi.spyOn(ValidationBudget.prototype, 'verify').mockImplementation(function (
    this: ValidationBudget,
    ...args
  ) {
    budgets.add(this);
    return verify.apply(this, args);
  });
  const evidence = await observe(asked);
  const outcome = evidence.failure?.reason ?? evidence.servers.map((server) => server.outcome).join(' ');
  const verified = [...budgets].reduce((sum, { validations }) => sum + validations, 0);
  return { outcome, verified };
}

describe('the worst chains', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const deep = `${'a.'.repeat(120)}trap`;
  const wrongDs = (count: number) =>
    Array.from({ length: count }, (_, i) => {
      const ds = Uint8Array.from(RIGHT);
      ds.set([i >> 8, i & 255], 10);
      return ds;
    });

  const keys = trapped(TYPE.DNSKEY);
  const proof = trapped(TYPE.NSEC3);
  const limits = Array(6).fill('limit').join(' ');
  it.each<[string, string, string, Trap]>([
    ['nothing wrong', 'none.trap', 'nxdomain', {}],
    ['200 keys of one tag', 'none.trap', 'validation_limit', { idle: TWINS, ds: wrongDs(1) }],
    ['200 such DS records, too', 'none.trap', 'validation_limit', { idle: TWINS, ds: wrongDs(MANY) }],
    ['200 wrong signatures of the keys', 'none.trap', 'validation_limit', { alter: keys }],
    ['200 keys of one tag, too', 'none.trap', 'validation_limit', { idle: TWINS, alter: keys }],
    ['200 wrong signatures of each record of a proof', 'none.trap', 'limit', { alter: proof }],
    ['200 keys of one tag as well', 'none.trap', 'limit', { idle: TWINS, alter: proof }],
    ['different ones at six addresses', 'none.trap', limits, { idle: TWINS, alter: proof, addresses: 6 }],
    ['a name of 121 labels, hashed 101 times each', deep, 'limit', {}],
    ['the same at six addresses', deep, limits, { addresses: 6 }],
  ])('with %s: at most 16 signatures are verified', async (_, asked, expected, trap) => {
    const { outcome, verified } = await check(asked, trap);
    expect(outcome).toBe(expected);
    expect(verified).toBeLessThanOrEqual(16);
  });
});
