import { expect, test } from 'vitest';
import type { SlowReceiver } from '../../../src/nameserver/slow-path/slow-path.ts';
import { SlowPathLimit } from '../../../src/nameserver/slow-path/slow-path-limit.ts';
import { RelayedSlowPath, SlowRelay } from '../../../src/nameserver/tls/slow-relay.ts';
import { queryFor } from '../../support/answer/packets.ts';

const message = { octets: queryFor('example.test.', 252), transport: 2, address: new Uint8Array(4) } as const;

/** Both sides, with a slow path that records its calls. */
function relayed({ isRunning = true } = {}) {
  const calls: string[] = [];
  const receivers = new Map<number, SlowReceiver>();
  const slowPath = {
    ask(_: unknown, receiver: SlowReceiver) {
      if (!isRunning) return undefined;
      receivers.set(100 + receivers.size, receiver);
      return 99 + receivers.size;
    },
    more: (id: number) => calls.push(`more ${id}`),
    close: (id: number) => calls.push(`close ${id}`),
  };
  const relay = new SlowRelay(slowPath, (posted) => thread.receive(posted));
  const thread: RelayedSlowPath = new RelayedSlowPath(new SlowPathLimit(), (posted) => relay.receive(posted));
  const receiver: SlowReceiver = {
    takeAnswer: (id, octets, isLast) => calls.push(`${id}: ${octets?.length}${isLast ? ' last' : ''}`),
    loseAnswer: (id) => calls.push(`${id}: lost`),
  };
  return { relay, thread, receivers, calls, ask: () => thread.ask(message, receiver) };
}

test('parts of answers, and requests for more, reach the other side with its ids', () => {
  const { thread, receivers, calls, ask } = relayed();
  expect([ask(), ask()]).toEqual([1, 2]);
  receivers.get(101)?.takeAnswer(101, new Uint8Array(7), false);
  thread.more(2);
  receivers.get(101)?.takeAnswer(101, new Uint8Array(8), true);
  receivers.get(100)?.loseAnswer(100);
  expect(calls).toEqual(['2: 7', 'more 101', '2: 8 last', '1: lost']);
  for (const id of [1, 2]) {
    thread.more(id);
    thread.close(id);
  }
  expect(calls).toHaveLength(4); // both are forgotten
});

test('an answer is forgotten on the other side if its connection or the thread ends', () => {
  const { relay, thread, receivers, calls, ask } = relayed();
  for (let i = 0; i < 3; i++) ask();
  thread.close(2);
  receivers.get(101)?.takeAnswer(101, new Uint8Array(7), true);
  relay.close();
  expect(calls).toEqual(['close 101', 'close 100', 'close 102']);
});

test('a message is answered with SERVFAIL while there is no transfer thread', () => {
  const { thread, ask } = relayed({ isRunning: false });
  const answers: (Uint8Array | undefined)[] = [];
  thread.ask(message, { takeAnswer: (_, octets) => answers.push(octets), loseAnswer() {} });
  ask();
  expect(Buffer.from(answers[0]!).toString('hex')).toBe('000c123480020000000000000000');
});
