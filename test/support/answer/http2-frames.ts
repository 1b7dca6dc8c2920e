// HTTP/2 as raw frames over TLS (RFC 9113), for clients that break its rules.

import { connect, type TLSSocket } from 'node:tls';

export const FRAME = {
  DATA: 0,
  HEADERS: 1,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;
export const FLAG = { END_STREAM: 1, END_HEADERS: 4 } as const;
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const WRITE_TIMEOUT_MS = 1000;

export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Returns a field block with literals that are not indexed (RFC 7541 §6.2.2). */
export function fieldBlock(fields: Readonly<Record<string, string>>): Buffer {
  const parts = Object.entries(fields).flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]);
  return Buffer.concat(parts);
}

/** Returns the field block of a request. */
export function requestBlock(
  method: string,
  path: string,
  fields: Readonly<Record<string, string>> = {},
): Buffer {
  return fieldBlock({
    ':method': method,
    ':scheme': 'https',
    ':authority': 'localhost',
    ':path': path,
    ...fields,
  });
}

function text(value: string): Buffer {
  const octets = Buffer.from(value);
  if (octets.length < 127) return Buffer.concat([Buffer.of(octets.length), octets]);
  const length = [127];
  let rest = octets.length - 127;
  for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...length, rest]), octets]);
}

export class RawHttp2Client {
  readonly socket: TLSSocket;
  /** True if the server has sent GOAWAY or ended the connection. */
  isOver = false;

  private constructor(socket: TLSSocket, reads: boolean) {
    this.socket = socket;
    const end = () => {
      this.isOver = true;
    };
    socket.on('error', end).on('close', end).on('end', end);
    if (reads) socket.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  /** If `reads` is false, never reads. `settings` are identifiers and values. */
  static async open(
    port: number,
    { reads = true, settings = [] }: { reads?: boolean; settings?: readonly [number, number][] } = {},
  ): Promise<RawHttp2Client> {
    const socket = connect({ port, host: '127.0.0.1', ALPNProtocols: ['h2'], rejectUnauthorized: false });
    await new Promise((done, fail) => socket.once('secureConnect', done).once('error', fail));
    const client = new RawHttp2Client(socket, reads);
    const payload = Buffer.alloc(6 * settings.length);
    for (const [i, [id, value]] of settings.entries()) {
      payload.writeUInt16BE(id, 6 * i);
      payload.writeUInt32BE(value, 6 * i + 2);
    }
    socket.write(Buffer.concat([Buffer.from(PREFACE), frame(FRAME.SETTINGS, 0, 0, payload)]));
    return client;
  }

  /** Returns false if the server does not take the octets or has ended the connection. */
  async send(...frames: readonly Uint8Array[]): Promise<boolean> {
    if (this.isOver) return false;
    return await new Promise((done) => {
      const timer = setTimeout(() => done(false), WRITE_TIMEOUT_MS);
      this.socket.write(Buffer.concat(frames), () => {
        clearTimeout(timer);
        done(!this.isOver);
      });
    });
  }

  /** Finds GOAWAY frames at the start of a chunk, because the server sends them last. */
  #read(chunk: Buffer): void {
    for (let at = 0; at + 9 <= chunk.length; at += 9 + chunk.readUIntBE(at, 3))
      if (chunk[at + 3] === FRAME.GOAWAY) this.isOver = true;
  }
}
