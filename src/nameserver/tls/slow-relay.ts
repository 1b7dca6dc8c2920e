// Passes messages between connections in the TLS thread and the transfer thread, through the main thread.
//
//   connection → LaterAnswers → RelayedSlowPath ══ask══▶ SlowRelay → SlowPath ══▶ transfer thread
//                                    (TLS thread)          (main thread)

import { writeFailure } from '../answer/answer-query.ts';
import type { SlowMessages, SlowReceiver } from '../slow-path/slow-path.ts';
import type { SlowPathLimit } from '../slow-path/slow-path-limit.ts';
import type { SlowMessage } from '../transfer/messages.ts';
import type { FromSlowRelay, ToSlowRelay } from './messages.ts';

/** The side of the TLS thread. */
export class RelayedSlowPath implements SlowMessages {
  readonly limit: SlowPathLimit;
  readonly #post: (message: ToSlowRelay) => void;
  readonly #receivers = new Map<number, SlowReceiver>();
  #lastId = 0;

  constructor(limit: SlowPathLimit, post: (message: ToSlowRelay) => void) {
    this.limit = limit;
    this.#post = post;
  }

  ask(message: Omit<SlowMessage, 'id'>, receiver: SlowReceiver): number {
    const id = ++this.#lastId;
    this.#receivers.set(id, receiver);
    this.#post({ kind: 'ask', id, message });
    return id;
  }

  more(id: number): void {
    this.#post({ kind: 'more', id });
  }

  close(id: number): void {
    if (this.#receivers.delete(id)) this.#post({ kind: 'close', id });
  }

  receive(message: FromSlowRelay): void {
    const { id } = message;
    const receiver = this.#receivers.get(id);
    if (receiver === undefined) return; // the connection has ended
    if (message.kind === 'lose' || message.isLast) this.#receivers.delete(id);
    if (message.kind === 'lose') receiver.loseAnswer(id);
    else receiver.takeAnswer(id, message.octets, message.isLast);
  }
}

/** The side of the main thread. */
export class SlowRelay {
  readonly #slowPath: Omit<SlowMessages, 'limit'>;
  readonly #post: (message: FromSlowRelay) => void;
  /** The id of SlowPath for each id of the TLS thread. */
  readonly #ids = new Map<number, number>();

  constructor(slowPath: Omit<SlowMessages, 'limit'>, post: (message: FromSlowRelay) => void) {
    this.#slowPath = slowPath;
    this.#post = post;
  }

  receive(message: ToSlowRelay): void {
    const id = this.#ids.get(message.id);
    if (message.kind === 'ask') this.#ask(message.id, message.message);
    else if (id === undefined)
      return; // it is answered
    else if (message.kind === 'more') this.#slowPath.more(id);
    else {
      this.#ids.delete(message.id);
      this.#slowPath.close(id);
    }
  }

  /** Call it when the TLS thread has ended. */
  close(): void {
    for (const id of this.#ids.values()) this.#slowPath.close(id);
    this.#ids.clear();
  }

  #ask(id: number, message: Omit<SlowMessage, 'id'>): void {
    const asked = this.#slowPath.ask(message, {
      takeAnswer: (_, octets, isLast) => {
        if (isLast) this.#ids.delete(id);
        this.#post({ kind: 'answer', id, octets, isLast });
      },
      loseAnswer: () => {
        this.#ids.delete(id);
        this.#post({ kind: 'lose', id });
      },
    });
    if (asked !== undefined) this.#ids.set(id, asked);
    else this.#post({ kind: 'answer', id, octets: framedFailure(message.octets), isLast: true });
  }
}

function framedFailure(query: Uint8Array): Uint8Array {
  const framed = new Uint8Array(64);
  const octets = writeFailure(query, 0, framed, 2);
  framed[1] = octets;
  return framed.slice(0, 2 + octets);
}
