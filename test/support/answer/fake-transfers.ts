// A slow path whose messages the test answers instead of the transfer thread.

import { SlowPath } from '../../../src/nameserver/slow-path/slow-path.ts';
import type { SlowMessage, ToTransferThread } from '../../../src/nameserver/transfer/messages.ts';
import { until } from '../tests/until.ts';

export class FakeTransfers {
  readonly slowPath: SlowPath;
  readonly posted: ToTransferThread[] = [];
  /** Called when the next part of an answer is requested. */
  onMore: (id: number) => void = () => {};

  constructor(now?: () => number) {
    this.slowPath = new SlowPath(now);
    this.slowPath.attach((message) => {
      this.posted.push(message);
      if (message.kind === 'more') queueMicrotask(() => this.onMore(message.id));
    });
  }

  get messages(): SlowMessage[] {
    return this.posted.flatMap((posted) => (posted.kind === 'message' ? [posted.message] : []));
  }

  /** Ids of posted messages of another kind. */
  idsOf(kind: 'more' | 'closed'): number[] {
    return this.posted.flatMap((posted) => (posted.kind === kind ? [posted.id] : []));
  }

  async received(count: number): Promise<SlowMessage[]> {
    await until(() => this.messages.length >= count, `${count} messages`);
    return this.messages;
  }

  answer(id: number, octets?: Uint8Array, isLast = true): void {
    this.slowPath.receive({ kind: 'answer', id, octets, isLast });
  }
}
