// The successor's side of a planned restart: takes over the sockets of the process that it replaces.

import { withControlPath } from '../../process/control-path.ts';
import { type Libc, openLibc } from '../threads/libc.ts';
import type { XdpShare } from '../xdp/xdp.ts';
import type { InheritedAddress } from './inherited.ts';
import type { OpenSockets, SocketsText } from './pack-sockets.ts';
import { connectUnix, receiveDescriptors, sendDescriptors } from './pass-descriptors.ts';

/** TCP connections that are passed: the input read from each, in base64, in the order of the descriptors. */
export interface ConnectionsText {
  readonly inputs: readonly string[];
}

export interface Predecessor extends OpenSockets {
  /**
   * Makes the predecessor stop receiving, and receives its TCP connections. Resolves when it no longer writes, or has ended.
   */
  release(adopt: (descriptor: number, input: Buffer) => void): Promise<void>;
}

/** Rejects if the process whose control socket is in the directory does not answer. */
export async function takeOver(directory: string): Promise<Predecessor> {
  const libc = await openLibc();
  const socket = await withControlPath(directory, (path) => connectUnix(libc, path));
  const ask = (request: object) => exchange(libc, socket, request);
  const addresses: InheritedAddress[] = [];
  const xdp: XdpShare[] = [];
  let health = -1;
  for (let more = true; more; ) {
    const sockets = await ask({ ask: 'sockets' });
    if (sockets === undefined) throw new Error('the process to replace has ended or refused: see its log');
    const text = sockets.text as SocketsText;
    const at = (index: number) => sockets.descriptors[index] as number;
    for (const { listen, udp, tcp } of text.addresses)
      addresses.push({ listen, udp: udp.map(at), tcp: at(tcp) });
    for (const one of text.xdp ?? []) {
      const queues = one.queues.map(({ socket, frames }) => ({ socket: at(socket), frames: at(frames) }));
      xdp.push({ ...one, link: at(one.link), queues });
    }
    if (text.health !== undefined) health = at(text.health);
    more = text.more === true;
  }
  return {
    addresses,
    health,
    xdp,
    async release(adopt) {
      let parcel = await ask({ ask: 'release', pid: process.pid });
      while (parcel !== undefined && 'inputs' in parcel.text) {
        const { inputs } = parcel.text as ConnectionsText;
        for (const [i, descriptor] of parcel.descriptors.entries())
          adopt(descriptor, Buffer.from(inputs[i] ?? '', 'base64'));
        parcel = await ask({ ask: 'connections' });
      }
      libc.close(socket);
    },
  };
}

async function exchange(libc: Libc, socket: number, request: object) {
  try {
    sendDescriptors(libc, socket, JSON.stringify(request), []);
    const received = await receiveDescriptors(libc, socket);
    return received && { text: JSON.parse(received.text), descriptors: received.descriptors };
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** Returns true if the other process has ended. */
function isGone(error: unknown): boolean {
  return ['EPIPE', 'ECONNRESET'].includes((error as NodeJS.ErrnoException).code ?? '');
}
