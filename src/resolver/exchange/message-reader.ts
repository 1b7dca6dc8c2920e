// Messages over TCP: each is preceded by its length in two octets (RFC 1035 §4.2.2).

const LENGTH_OCTETS = 2;

/** Returns the query with its length in one piece: some servers treat a length in its own packet as the whole message. */
export function framed(query: Uint8Array): Uint8Array {
  return Buffer.concat([Uint8Array.of(query.length >> 8, query.length), query]);
}

/** Splits a stream into messages. At most one message is in memory. */
export class MessageReader {
  readonly #length = new Uint8Array(LENGTH_OCTETS);
  /** The message being received. Undefined while its length is. It has this length, so a peer cannot make us store more. */
  message: Uint8Array | undefined;
  /** Number of received octets of the length or the message. */
  received = 0;

  /** Calls `onMessage` with each complete message, until it returns true. */
  read(octets: Uint8Array, onMessage: (message: Uint8Array) => boolean): void {
    for (let at = 0; at < octets.length; ) {
      if (this.message === undefined) {
        this.#length[this.received++] = octets[at++] as number;
        if (this.received < LENGTH_OCTETS) continue;
        this.message = new Uint8Array(((this.#length[0] as number) << 8) | (this.#length[1] as number));
        this.received = 0;
      }
      const { message } = this;
      const part = octets.subarray(at, at + message.length - this.received);
      message.set(part, this.received);
      this.received += part.length;
      at += part.length;
      if (this.received < message.length) continue;
      this.message = undefined;
      this.received = 0;
      if (onMessage(message)) return;
    }
  }
}
