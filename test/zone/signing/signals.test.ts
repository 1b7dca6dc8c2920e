import { expect, it } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { domainOfSignal, isSignal, signalName, signalZone } from '../../../src/zone/signing/signals.ts';
import { name } from '../../support/world/zone-exchange.ts';

const ZONE = name('_signal.ns1.example.net');

it('a domain is signalled below its nameserver, as in RFC 9615, section 2', () => {
  expect(signalZone(name('ns1.example.net'))).toBe(ZONE);
  const signal = signalName(name('example.co.uk'), ZONE);
  expect(printName(signal as never)).toBe('_dsboot.example.co.uk._signal.ns1.example.net.');
  expect(domainOfSignal(signal as never, ZONE)).toBe(name('example.co.uk'));
});

it('a name above 255 octets is none', () => {
  const label = 'a'.repeat(63);
  const host = name(`${label}.${label}`);
  const zone = signalZone(host) as never;
  expect(signalName(name(`${label}.${'b'.repeat(45)}`), zone)).toHaveLength(255);
  expect(signalName(name(`${label}.${'b'.repeat(46)}`), zone)).toBeUndefined();
  expect(signalZone(name(`${label}.${label}.${label}.${'b'.repeat(60)}`))).toBeUndefined();
});

it('only copies of CDS and CDNSKEY at such names are ours, and only in zones for signals', () => {
  const owner = signalName(name('shop.example'), ZONE) as never;
  expect(isSignal(ZONE, { owner, type: TYPE.CDS })).toBe(true);
  expect(isSignal(ZONE, { owner, type: TYPE.CDNSKEY })).toBe(true);
  expect(isSignal(ZONE, { owner, type: TYPE.TXT })).toBe(false);
  expect(isSignal(ZONE, { owner: name('_dsboot._signal.ns1.example.net'), type: TYPE.CDS })).toBe(false);
  expect(isSignal(ZONE, { owner: name('a._signal.ns1.example.net'), type: TYPE.CDS })).toBe(false);
  expect(isSignal(name('ns1.example.net'), { owner, type: TYPE.CDS })).toBe(false);
});
