import { expect, test, vi } from 'vitest';
import { Client } from '../../../src/nameserver/answer/client.ts';
import { ReaderSlot } from '../../../src/nameserver/image/image.ts';
import { READER_SLOT_WORDS, READER_SLOTS_AT } from '../../../src/nameserver/image/layout.ts';
import { SlowPath } from '../../../src/nameserver/slow-path/slow-path.ts';
import { startTransferThread } from '../../../src/nameserver/slow-path/start-transfer-thread.ts';
import type { ToTransferThread, TransferThreadOptions } from '../../../src/nameserver/transfer/messages.ts';
import { testNode } from '../../support/answer/test-node.ts';
import { collectingLog } from '../../support/processes/follow.ts';
import { until } from '../../support/tests/until.ts';

const ENTRY = new URL('../../support/answer/fake-transfer-thread.ts', import.meta.url);
const SLOT = 101;

test('the transfer thread gets messages and zones, and is restarted if it ends, with a free reader slot', async () => {
  const { image } = testNode();
  const slowPath = new SlowPath();
  const log = collectingLog();
  const watch = vi.fn();
  let reportZones: (message: ToTransferThread) => void = () => {};
  const thread = startTransferThread({
    thread: { buffer: image.buffer, slot: SLOT } as TransferThreadOptions,
    slowPath,
    image: {
      watch,
      onZones(listener) {
        reportZones = listener as typeof reportZones;
      },
    },
    log,
    entry: ENTRY,
  });
  const outcomes: string[] = [];
  const receiver = {
    takeAnswer: (_: number, octets?: Uint8Array) => outcomes.push(Buffer.from(octets!).toString()),
    loseAnswer: () => outcomes.push('lost'),
  };
  const ask = (text: string) => {
    slowPath.limit.enter();
    const octets = new TextEncoder().encode(text);
    return slowPath.ask({ octets, transport: 1, address: new Uint8Array(4) }, receiver);
  };
  const received = () =>
    log.lines.filter(({ level }) => level === 'info').map(({ fields }) => (fields as ToTransferThread).kind);

  ask('one');
  await until(() => outcomes.length === 1, 'answered');
  await until(() => watch.mock.calls.length === 1, 'the zones are watched');
  expect(watch).toHaveBeenCalledWith(true);
  const peer = new Client();
  peer.set(0, Uint8Array.of(192, 0, 2, 1));
  for (let i = 0; i < 200; i++) expect(slowPath.limit.admit(peer, 12, 0)).toBe(true);
  for (let i = 0; i < 200; i++) slowPath.limit.leave();
  reportZones({ kind: 'changed', zones: [] });
  await until(() => received().length === 1, 'zones');

  new ReaderSlot(image, SLOT).enter();
  ask('exit');
  ask('two');
  await until(() => outcomes.length === 3, 'lost');
  expect(image.header[READER_SLOTS_AT + SLOT * READER_SLOT_WORDS]).toBe(0);
  expect(log.lines.at(-1)).toMatchObject({
    level: 'error',
    message: 'the transfer thread ended: restarting it',
  });
  await until(() => ask('three') !== undefined, 'restarted');
  await until(() => outcomes.length === 4, 'answered again');
  expect(outcomes).toEqual(['one', 'lost', 'lost', 'three']);
  expect(received()).toEqual(['changed']);
  await thread.stop();
  expect([ask('four'), slowPath.limit.waiting]).toEqual([undefined, 0]);
});
