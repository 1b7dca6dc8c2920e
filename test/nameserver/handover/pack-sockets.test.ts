import { expect, it } from 'vitest';
import { packSockets } from '../../../src/nameserver/handover/pack-sockets.ts';

it('packs the descriptors of an XDP interface into one message, even if it needs a second one', () => {
  const address = {
    listen: { address: '192.0.2.1', port: 53 },
    udp: Array.from({ length: 90 }, (_, i) => 1000 + i),
    tcp: 2000,
  };
  const queues = Array.from({ length: 90 }, (_, i) => ({ socket: 3000 + i, frames: 4000 + i }));
  const one = { name: 'eth0', index: 7, mode: 'copy', layout: 'a layout', link: 5000, queues } as const;
  const messages = packSockets({ addresses: [address], health: 3, xdp: [one] });
  expect(messages.map(({ text }) => [text.more, text.addresses.length, text.xdp?.length])).toEqual([
    [true, 1, undefined],
    [undefined, 0, 1],
  ]);
  const { text, descriptors } = messages[1] as (typeof messages)[number];
  const at = (index: number) => descriptors[index] as number;
  const found = text.xdp?.map((packed) => ({
    ...packed,
    link: at(packed.link),
    queues: packed.queues.map(({ socket, frames }) => ({ socket: at(socket), frames: at(frames) })),
  }));
  expect(found).toEqual([one]);
});
