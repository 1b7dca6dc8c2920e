// Reads the body of a request into one buffer that grows. The parts that Node passes are views of large buffers, which
// would stay in memory.

import type { Readable } from 'node:stream';
import { MAX_QUERY_OCTETS } from './read-doh-request.ts';

const FIRST_BYTES = 512;

interface BodyReader {
  /** Called with the bytes that the body uses in addition. */
  hold(bytes: number): void;
  /** Called once, with the body or the status of the error. Not called if the client cancels the request. */
  done(body: Uint8Array | 413): void;
}

export function readBody(from: Readable, reader: BodyReader): void {
  let body = new Uint8Array(0);
  let octets = 0;
  const take = (part: Uint8Array): void => {
    const needed = octets + part.length;
    if (needed > MAX_QUERY_OCTETS) {
      from.off('data', take).off('end', end).resume(); // discards the rest
      reader.done(413);
      return;
    }
    if (needed > body.length) {
      const larger = new Uint8Array(
        Math.max(FIRST_BYTES, needed, Math.min(MAX_QUERY_OCTETS, 2 * body.length)),
      );
      larger.set(body.subarray(0, octets));
      reader.hold(larger.length - body.length);
      body = larger;
    }
    body.set(part, octets);
    octets = needed;
  };
  const end = (): void => {
    if (!from.destroyed) reader.done(body.subarray(0, octets)); // HTTP/2 streams end also if they are destroyed
  };
  from.on('data', take).on('end', end);
}
