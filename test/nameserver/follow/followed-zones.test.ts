// What becomes of zones for which the image has no room.

import { describe, expect, it } from 'vitest';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { Answerer } from '../../../src/nameserver/answer/answer-query.ts';
import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import { FollowedZones } from '../../../src/nameserver/follow/followed-zones.ts';
import { findImageFault } from '../../../src/zone/image/check/check-image.ts';
import { createImage, Image, ReaderSlot } from '../../../src/zone/image/image.ts';
import { ImageWriter } from '../../../src/zone/image/write-image.ts';
import { queryFor } from '../../support/answer/queries.ts';
import { ask } from '../../support/answer/test-node.ts';
import { smallZone } from '../../support/processes/follow.ts';

const FILLER = Array.from({ length: 28 }, (_, i) => `n${i} 300 IN TXT "${'x'.repeat(100)}"`).join('\n');

function fullNode() {
  const image = new Image(createImage(128 << 10, 7));
  const writer = new ImageWriter(image);
  const followed = new FollowedZones(writer);
  const apply = (id: number, apex: string, extra = '') => {
    const { apex: name, records } = smallZone(apex, id, extra);
    const zone = { id, apex: name, version: id, mark: 0, deleted: false, partial: false, records, gone: [] };
    return followed.apply(zone).kind;
  };
  for (let id = 1; id < 50; id++) apply(id, `z${id}.example.`, FILLER);
  const counters = new QueryCounters();
  const settings = {
    nodeName: 'n',
    version: 'v',
    cookieSecrets: [new Uint8Array(16)],
    rateLimit: undefined,
    amplificationLimit: undefined,
    tcpIdleTimeoutMs: 1,
  };
  const failures: unknown[] = [];
  const answerer = new Answerer(image, settings, counters, (error) => failures.push(error));
  const node = { image, settings, answerer, reader: new ReaderSlot(image, 0), counters, failures };
  const rcodeOf = (name: string, type: number = TYPE.A) => {
    const answer = decodeMessage(ask(queryFor({ name: parseName(name), type, udpPayloadSize: 1232 }), node));
    const error = answer.edns?.options.find(({ code }) => code === 15)?.value;
    expect(failures).toEqual([]);
    return [answer.rcode, error === undefined ? undefined : Buffer.from(error).readUInt16BE()];
  };
  return { image, writer, followed, apply, rcodeOf };
}

const [NOERROR, SERVFAIL, REFUSED] = [0, 2, 5];
const [NOT_READY, NOT_AUTHORITATIVE] = [14, 20];

describe('a zone for which there is no room', () => {
  it('is answered SERVFAIL with "not ready", at every name and type; the others are answered as before', () => {
    const { followed, rcodeOf, writer } = fullNode();
    expect(followed.withoutRoom).toBeGreaterThan(15);
    expect(writer.zones + followed.withoutRoom).toBe(49);
    expect(rcodeOf('www.z1.example.')).toEqual([NOERROR, undefined]);
    for (const type of [TYPE.A, TYPE.SOA, TYPE.NS, TYPE.DS, TYPE.ANY]) {
      expect(rcodeOf('z49.example.', type)).toEqual([SERVFAIL, NOT_READY]);
      expect(rcodeOf('a.b.z49.example.', type)).toEqual([SERVFAIL, NOT_READY]);
    }
    expect(rcodeOf('z50.example.')).toEqual([REFUSED, NOT_AUTHORITATIVE]);
    expect(rcodeOf('example.')).toEqual([REFUSED, NOT_AUTHORITATIVE]);
  });

  it('is answered when it finds room, and no longer ours when it is gone', () => {
    const { followed, apply, rcodeOf, writer } = fullNode();
    followed.remove([parseName('z1.example.')]);
    expect(apply(49, 'z49.example.')).toBe('served');
    expect(rcodeOf('www.z49.example.')).toEqual([NOERROR, undefined]);
    followed.markGone(parseName('z48.example.'));
    expect(rcodeOf('www.z48.example.')).toEqual([REFUSED, NOT_AUTHORITATIVE]);
    for (let id = 1; id < 50; id++) followed.remove([parseName(`z${id}.example.`)]);
    expect([writer.zones, writer.records, followed.withoutRoom]).toEqual([0, 0, 0]);
    expect([...writer.notServed()]).toEqual([]);
  });

  it('keeps its older version where it has one', () => {
    const { apply, rcodeOf } = fullNode();
    expect(apply(1, 'z1.example.', `${FILLER.repeat(1).replaceAll('n', 'm')}\n${FILLER}`)).toBe('full');
    expect(rcodeOf('www.z1.example.')).toEqual([NOERROR, undefined]);
  });

  it('is the same after a restart from the snapshot', () => {
    const { image, writer, followed } = fullNode();
    const buffer = new SharedArrayBuffer(image.buffer.byteLength);
    new Uint8Array(buffer).set(new Uint8Array(image.buffer));
    const free = writer.exportFree();
    const again = new Image(buffer);
    expect(findImageFault(again, free)).toBeUndefined();
    const adopted = new FollowedZones(new ImageWriter(again, free));
    adopted.adopt();
    expect([adopted.withoutRoom, adopted.zones]).toEqual([followed.withoutRoom, followed.zones]);
    expect(adopted.apexOf(49)).toBe(parseName('z49.example.'));
    adopted.markGone(parseName('z49.example.'));
    expect(adopted.withoutRoom).toBe(followed.withoutRoom - 1);
  });

  it('with a delegating zone above it keeps DS questions from being denied by the child', () => {
    const { apply, rcodeOf, followed } = fullNode();
    followed.remove([parseName('z1.example.')]);
    expect(apply(100, 'sub.z49.example.')).toBe('served');
    expect(rcodeOf('sub.z49.example.', TYPE.DS)).toEqual([SERVFAIL, NOT_READY]);
    expect(rcodeOf('www.sub.z49.example.')).toEqual([NOERROR, undefined]);
  });
});
