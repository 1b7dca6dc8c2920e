import { describe, expect, it } from 'vitest';
import { dsDigest, isKnownDigest } from '../../../src/dns/dnssec/ds-digest.ts';
import { parseName } from '../../../src/dns/name.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const KEY =
  '256 3 5 AQOeiiR0GOMYkDshWoSKz9XzfwJr1AYtsmx3TGkJaNXVbfi/2pHm822aJ5iI9BMzNXxeYCmZDRD99WYwYqUSdjMmmAphXdvxegXd/M5+X7OrzKBaMbCVdFLUUh6DhweJBjEVv5f2wwjM9XzcnOf+EPbtG9DMBmADjFDc2w/rljwvFw==';
const digest = (owner: string, type: number, key = KEY) =>
  Buffer.from(
    dsDigest(parseName(owner), recordsOf(`@ DNSKEY ${key}`)[0]?.rdata as Uint8Array, type) ?? [],
  ).toString('hex');

describe('the digest of a DS record', () => {
  it('is that of the examples of RFC 4034 §5.4, RFC 4509 §2.3 and RFC 6605 §6.2', () => {
    expect(digest('dskey.example.com.', 1)).toBe('2bb183af5f22588179a53b0a98631fad1a292118');
    expect(digest('dskey.example.com.', 2)).toBe(
      'd4b7d520e7bb5f0f67674a0cceb1e3e0614b93c4f9e99b8383f6a1e4469da50a',
    );
    const key =
      '257 3 14 xKYaNhWdGOfJ+nPrL8/arkwf2EY3MDJ+SErKivBVSum1w/egsXvSADtNJhyem5RCOpgQ6K8X1DRSEkrbYQ+OB+v8/uX45NBwY8rp65F6Glur8I/mlVNgF6W/qTI37m40';
    expect(digest('example.net.', 4, key)).toBe(
      '72d7b62976ce06438e9c0bf319013cf801f09ecc84b8d7e9495f27e305c6a9b0563a9b5f4d288405c3008a946df983d6',
    );
  });

  it('does not depend on the case of the owner', () => {
    expect(digest('DSkey.Example.com.', 2)).toBe(digest('dskey.example.com.', 2));
  });

  it('is not there for other types', () => {
    expect(digest('dskey.example.com.', 3)).toBe('');
    expect([1, 2, 3, 4, 5].filter(isKnownDigest)).toEqual([1, 2, 4]);
  });
});
