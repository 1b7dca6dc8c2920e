import { expect, it } from 'vitest';
import { answerLifetime } from '../../../src/nameserver/tls/answer-lifetime.ts';
import { assemble } from '../../support/answer/packets.ts';

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
const a = (ttl: number) => `c00c 0001 0001 ${hex(ttl, 8)} 0004 c0000201`;
const ns = (ttl: number) => `"example." 0002 0001 ${hex(ttl, 8)} 0002 c00c`;
const soa = (ttl: number, minimum: number) =>
  `"example." 0006 0001 ${hex(ttl, 8)} 0018 c00c c00c ${'00000001'.repeat(4)} ${hex(minimum, 8)}`;

function lifetime(answers: string[], authorities: string[] = [], flags = 0x8400): number {
  const counts = `0001 ${hex(answers.length, 4)} ${hex(authorities.length, 4)} 0001`;
  const records = [...answers, ...authorities].join(' ');
  return answerLifetime(
    assemble(`0000 ${hex(flags, 4)} ${counts} "www.example." 0001 0001 ${records} OPT()`),
  );
}

it.each<[string, number, number]>([
  ['the TTL of one record', 300, lifetime([a(300)])],
  ['the least TTL of the answer section', 60, lifetime([a(300), a(60), a(3600)], [ns(5)])],
  ['the MINIMUM of a denial', 60, lifetime([], [soa(3600, 60)])],
  ['the TTL of the SOA record of a denial', 30, lifetime([], [ns(5), soa(30, 3600)], 0x8403)],
  ['the least of an alias and the denial of its target', 60, lifetime([a(300)], [soa(300, 60)], 0x8403)],
  ['0 for a TTL above 2^31 - 1 (RFC 2181 §8)', 0, lifetime([a(300), a(0x8000_0000)])],
  ['0 for a referral', 0, lifetime([], [ns(300)], 0x8000)],
  ['0 for an error', 0, lifetime([a(300)], [], 0x8405)],
  ['0 for a truncated answer', 0, lifetime([a(300)], [], 0x8600)],
])('the lifetime of an answer is %s', (_, expected, found) => {
  expect(found).toBe(expected);
});
