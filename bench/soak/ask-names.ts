// Sends DNS queries over UDP from one socket for each server, and reads what the soak needs of the answers.

import { createSocket, type Socket } from 'node:dgram';
import { type Answer, decode, encode, RECURSION_DESIRED } from 'dns-packet';

export interface Reply {
  readonly rcode: string;
  /** True if a resolver validated the answer (AD). */
  readonly isSecure: boolean;
  readonly answers: readonly Answer[];
  readonly askedMs: number;
  readonly answeredMs: number;
}

interface Query {
  readonly name: string;
  readonly type: 'A' | 'TXT' | 'DNSKEY' | 'SOA';
}

const UDP_OCTETS = 1232;
const DNSSEC_OK = 1 << 15;

export class Asker {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, (octets: Buffer) => void>();
  #id = 0;
  readonly #address: string;
  readonly #port: number;

  constructor(address: string, port: number) {
    this.#address = address;
    this.#port = port;
    this.#socket = createSocket('udp4');
    this.#socket.on('message', (octets) => this.#waiting.get(octets.readUInt16BE(0))?.(octets));
    this.#socket.on('error', () => {}); // the port is closed while a server restarts
  }

  /** Returns undefined if no answer arrives. Each try has a timeout of its own. */
  async ask(
    query: Query,
    { tries, timeoutMs }: { tries: number; timeoutMs: number },
  ): Promise<Reply | undefined> {
    for (let i = 0; i < tries; i++) {
      const reply = await this.#askOnce(query, timeoutMs);
      if (reply !== undefined) return reply;
    }
    return undefined;
  }

  close(): void {
    this.#socket.close();
  }

  async #askOnce({ name, type }: Query, timeoutMs: number): Promise<Reply | undefined> {
    this.#id = (this.#id + 1) & 0xffff;
    const id = this.#id;
    const packet = encode({
      type: 'query',
      id,
      flags: RECURSION_DESIRED,
      questions: [{ type, name, class: 'IN' }],
      additionals: [
        { type: 'OPT', name: '.', udpPayloadSize: UDP_OCTETS, flags: DNSSEC_OK, options: [] } as never,
      ],
    });
    const askedMs = performance.now();
    const octets = await new Promise<Buffer | undefined>((done) => {
      const timer = setTimeout(done, timeoutMs, undefined);
      this.#waiting.set(id, (received) => {
        clearTimeout(timer);
        done(received);
      });
      this.#socket.send(packet, this.#port, this.#address);
    });
    this.#waiting.delete(id);
    if (octets === undefined) return undefined;
    const {
      rcode,
      flag_ad,
      answers = [],
    } = decode(octets) as ReturnType<typeof decode> & {
      rcode: string;
      flag_ad: boolean;
    };
    return { rcode, isSecure: flag_ad, answers, askedMs, answeredMs: performance.now() };
  }
}

/** Returns the number in a TXT or A record of the soak; undefined if the name does not exist. Throws for other answers. */
export function valueIn({ rcode, answers }: Reply, type: 'A' | 'TXT'): number | undefined {
  if (rcode === 'NXDOMAIN') return undefined;
  if (rcode !== 'NOERROR') throw new Error(rcode);
  const found = answers.filter((answer) => answer.type === type);
  const [answer] = found;
  if (answer === undefined) return undefined;
  if (found.length > 1) throw new Error(`${found.length} records`);
  if (answer.type === 'A') return numberIn(answer.data);
  const text = Buffer.concat([(answer as { data: Buffer[] }).data].flat()).toString();
  if (!/^n\d+$/.test(text)) throw new Error(`"${text}"`);
  return Number(text.slice(1));
}

/** Returns the address in 10.0.0.0/8 that represents the number. */
export function addressOf(value: number): string {
  return `10.${(value >> 16) & 255}.${(value >> 8) & 255}.${value & 255}`;
}

function numberIn(address: string): number {
  const [first, ...rest] = address.split('.').map(Number);
  if (first !== 10) throw new Error(address);
  return rest.reduce((sum, octet) => sum * 256 + octet, 0);
}
