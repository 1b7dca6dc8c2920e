// Keys of another operator count only where a DS of the parent leads to them: real signatures, and an attacker who has the servers,
// or the way to them, but no key of theirs.

import { describe, expect, it } from 'vitest';
import { judgeTheirKeys, readTheirKeys } from '../../../src/checks/dnssec/their-keys.ts';
import type { Message } from '../../../src/dns/message/message.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { dsOf, makeKey, type SigningKey, signSet } from '../../support/dnssec/signing.ts';
import { name } from '../../support/world/zone-exchange.ts';

const DOMAIN = name('shop.test');
const AT = 1_800_000_000;
const TIME = { inception: AT - 3600, expiration: AT + 3600 };
const ENTRY = makeKey(13);
const DATA = makeKey(13, 256);
const EVIL = makeKey(13);
const DS = [dsOf(DOMAIN, ENTRY)];

function shown(
  keys: readonly SigningKey[],
  signers: readonly SigningKey[],
  more: Partial<Message> = {},
): Message {
  const set = { owner: DOMAIN, type: TYPE.DNSKEY, ttl: 3600, rdata: keys.map(({ rdata }) => rdata) };
  const record = (type: number, rdata: Uint8Array) => ({ owner: DOMAIN, type, class: 1, ttl: 3600, rdata });
  const answers = [
    ...set.rdata.map((rdata) => record(TYPE.DNSKEY, rdata)),
    ...signers.map((key) => record(TYPE.RRSIG, signSet(set, key, { zone: DOMAIN, time: TIME }))),
  ];
  return { aa: true, answers, ...more } as Message;
}

const read = (message: Message | undefined, ds = DS, at = AT) =>
  readTheirKeys(DOMAIN, { address: '192.0.2.1', message }, ds, at);
const judge = (...messages: (Message | undefined)[]) =>
  judgeTheirKeys({ servers: messages.map((message) => read(message)), failure: undefined });

describe('keys at the servers of another operator', () => {
  it('are found where every server shows a set that the DS leads to', () => {
    const good = shown([ENTRY, DATA], [ENTRY]);
    expect(judge(good, good, good, undefined)).toEqual({
      kind: 'found',
      keys: [ENTRY.rdata, DATA.rdata],
      ttl: 3600,
      isSame: true,
    });
  });

  const right = shown([ENTRY], [ENTRY]);
  const slippedIn = { ...right, answers: [...right.answers, ...shown([EVIL], []).answers] };
  it.each([
    ['keys of an attacker alone', shown([EVIL], [EVIL])],
    ['a key of an attacker beside theirs, signed by it', shown([ENTRY, EVIL], [EVIL])],
    ['a set without a signature', shown([ENTRY, DATA], [])],
    ['a set that their key for data has signed', shown([ENTRY, DATA], [DATA])],
    ['an answer without AA', shown([ENTRY], [ENTRY], { aa: false })],
    ['no keys', shown([], [])],
    ['a key that was added after the signature', slippedIn],
  ])('are not taken from %s, whatever the others show', (_, bad) => {
    const good = shown([ENTRY, DATA], [ENTRY]);
    expect(judge(bad)).toMatchObject({ kind: 'failed' });
    expect(judge(good, bad, good, good)).toMatchObject({ kind: 'failed' });
  });

  it('are not taken where the DS is of another key, is none that resolvers use, or a signature has ended', () => {
    const good = shown([ENTRY], [ENTRY]);
    expect(read(good).error).toBeUndefined();
    expect(read(good, [dsOf(DOMAIN, EVIL)]).error).toContain('no key matches');
    expect(read(good, [dsOf(name('other.test'), ENTRY)]).error).toContain('no key matches');
    expect(read(good, []).error).toContain('no DS');
    expect(read(good, DS, AT + 2 * 86_400).error).toBeDefined();
  });

  it('are said to differ, and only what all show counts', () => {
    const more = shown([ENTRY, DATA], [ENTRY]);
    const fewer = shown([ENTRY], [ENTRY]);
    for (const messages of [
      [more, fewer],
      [fewer, more],
    ])
      expect(judge(...messages)).toMatchObject({ keys: [ENTRY.rdata], isSame: false });
  });

  it('are not judged while more than a quarter of the servers is silent, or nobody could be asked', () => {
    const good = shown([ENTRY], [ENTRY]);
    expect(judge(good, good, undefined)).toMatchObject({ kind: 'failed' });
    expect(judge()).toMatchObject({ kind: 'failed' });
    expect(judgeTheirKeys({ servers: [], failure: 'to nobody' })).toEqual({
      kind: 'failed',
      message: 'to nobody',
    });
  });
});
