import { expect, test } from 'vitest';
import { Handshakes } from '../../../src/nameserver/tls/handshakes.ts';

/** Starts handshakes of the named networks. Returns those that were ended, such as `b2`: the second of network b. */
function run(networks: string, most = 4) {
  const handshakes = new Handshakes(most);
  const ended: string[] = [];
  const started = [...networks].map((network, i) => {
    const number = [...networks.slice(0, i + 1)].filter((other) => other === network).length;
    const handshake = { destroy: () => ended.push(`${network}${number}`) };
    handshakes.enter(handshake, network);
    return handshake;
  });
  return { handshakes, ended, started };
}

test.each([
  ['aaaa', []],
  ['abcd', []],
  ['aaaaa', ['a5']], // the network that has most gets no more
  ['aaaab', ['a1']], // another network takes the place of its oldest
  ['aaaabbb', ['a1', 'a2', 'b3']],
  ['aaaabcdefg', ['a1', 'a2', 'a3', 'a4', 'b1', 'c1']], // the oldest of all
])('of more than four handshakes, from networks %s, some are ended: %j', (networks, wanted) => {
  const { handshakes, ended } = run(networks);
  expect(ended).toEqual(wanted);
  expect(handshakes.counts).toEqual({ done: 0, failed: 0, timeout: 0, refused: wanted.length });
});

test('a handshake that has ended leaves space for another, and is counted once', () => {
  const { handshakes, ended, started } = run('aaab');
  const [first, second, third] = started;
  handshakes.leave(first!, 'done');
  handshakes.leave(second!, 'timeout');
  for (const again of [first, second, third]) handshakes.leave(again!, 'failed');
  for (const network of 'cde') handshakes.enter({ destroy: () => ended.push(network) }, network);
  expect(ended).toEqual([]);
  expect(handshakes.counts).toEqual({ done: 1, failed: 1, timeout: 1, refused: 0 });
});
