// Asks a node over UDP and TCP, waits for every answer, and keeps what has to be counted of them. Nothing is sent twice: a
// question without an answer ends the test, since nobody could say whether it was counted.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { NodeProcess } from '../processes/nodes.ts';
import { until } from '../tests/until.ts';
import type { Question } from './counted-questions.ts';

/** Under way at a time: few enough for the buffers of both sockets. */
const WINDOW = 64;
const IDS = 65_536;

/** By `domain type rcode node`. */
export class Tally {
  readonly counts = new Map<string, number>();
  total = 0;

  add(key: string, count = 1): void {
    this.counts.set(key, (this.counts.get(key) ?? 0) + count);
    this.total += count;
  }

  addAll(other: Tally): void {
    for (const [key, count] of other.counts) this.add(key, count);
  }
}

/** So many questions, one of sixteen over TCP. Gives what the node has to count of them. */
export async function askCounted(node: NodeProcess, count: number, next: () => Question): Promise<Tally> {
  const tally = new Tally();
  const overTcp = Math.floor(count / 16);
  await Promise.all([
    askUdp(node, new Asking(node, count - overTcp, next, tally)),
    askTcp(node, new Asking(node, overTcp, next, tally)),
  ]);
  return tally;
}

class Asking {
  readonly #node: NodeProcess;
  readonly #count: number;
  readonly #next: () => Question;
  readonly #tally: Tally;
  readonly #underWay = new Map<number, Question>();
  #asked = 0;
  #answered = 0;
  fault: Error | undefined;

  constructor(node: NodeProcess, count: number, next: () => Question, tally: Tally) {
    this.#node = node;
    this.#count = count;
    this.#next = next;
    this.#tally = tally;
  }

  get answered(): number {
    return this.#answered;
  }

  get isDone(): boolean {
    return this.#answered === this.#count;
  }

  /** The next ones that may be sent now. */
  *ready(): Generator<Buffer> {
    while (this.#asked < this.#count && this.#underWay.size < WINDOW) {
      const question = this.#next();
      const id = this.#asked++ % IDS;
      question.packet.writeUInt16BE(id, 0);
      this.#underWay.set(id, question);
      yield question.packet;
    }
  }

  take(reply: Buffer): void {
    const id = reply.readUInt16BE(0);
    const question = this.#underWay.get(id);
    const rcode = reply.readUInt8(3) & 0xf;
    if (question === undefined || rcode !== question.rcode) {
      this.fault ??= new Error(`no such answer was due: ${reply.toString('hex')}`);
      return;
    }
    this.#underWay.delete(id);
    this.#answered++;
    const { counted } = question;
    if (counted !== undefined)
      this.#tally.add(`${counted.domain} ${counted.type} ${rcode} ${this.#node.name}`);
  }

  /** Resolves when all are answered; what hangs ends. */
  async done(): Promise<void> {
    for (let before = -1; !this.isDone; ) {
      before = this.#answered;
      await until(
        () => {
          if (this.fault !== undefined) throw this.fault;
          return this.isDone || this.#answered >= before + IDS / 2;
        },
        () => `all questions are answered: ${this.#underWay.size} are not`,
      );
    }
  }
}

async function askUdp({ address: to }: NodeProcess, asking: Asking): Promise<void> {
  const socket = createSocket('udp4');
  const send = () => {
    for (const packet of asking.ready()) socket.send(packet, to.port, to.address);
  };
  socket.on('message', (reply) => {
    asking.take(reply);
    send();
  });
  try {
    send();
    await asking.done();
  } finally {
    socket.close();
  }
}

async function askTcp({ address: to }: NodeProcess, asking: Asking): Promise<void> {
  const socket = connect({ host: to.address, port: to.port });
  socket.on('error', (error) => {
    asking.fault ??= error;
  });
  await once(socket, 'connect');
  let pending: Buffer = Buffer.alloc(0);
  const send = () => {
    const frames = [...asking.ready()].flatMap((packet) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(packet.length);
      return [length, packet];
    });
    if (frames.length > 0) socket.write(Buffer.concat(frames));
  };
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
      const end = 2 + pending.readUInt16BE(0);
      asking.take(pending.subarray(2, end));
      pending = pending.subarray(end);
    }
    send();
  });
  try {
    send();
    await asking.done();
  } finally {
    socket.destroy();
  }
}
