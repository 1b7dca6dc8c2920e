// Passes the sockets of this process to the one that replaces it, so that a restart loses no answers.

import type { ListenAddress } from '../process/listen-address.ts';
import type { HealthListener } from '../process/listen-health.ts';
import type { Log } from '../process/reconnect.ts';
import type { ProcessLife } from '../process/run-process.ts';
import type { ImageThread } from './follow/start-image-thread.ts';
import { type ControlSocket, listenControl, type Parcel } from './handover/control-socket.ts';
import { descriptorOf } from './handover/inherited.ts';
import type { OpenSockets } from './handover/pack-sockets.ts';
import { startSuccessor } from './handover/start-successor.ts';
import type { ConnectionsText } from './handover/take-over.ts';
import type { TcpListener } from './tcp/tcp.ts';
import type { TlsThread } from './tls/start-tls-thread.ts';
import type { ChosenUdpListener } from './udp/udp.ts';

interface Serving {
  /** The addresses as written in DNS_LISTEN. The successor finds its sockets by them. */
  readonly addresses: readonly ListenAddress[];
  readonly tcp: TcpListener;
  readonly udp: Extract<ChosenUdpListener, { io: 'koffi' }>;
  readonly tls: TlsThread | undefined;
  readonly health: HealthListener;
  readonly thread: ImageThread;
  readonly life: ProcessLife;
  readonly log: Log;
  readonly snapshotDirectory: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Opens the control socket. If that fails, the node still serves. */
export async function offerSockets(serving: Serving): Promise<void> {
  const { tcp, tls, thread, life, log, snapshotDirectory: directory, environment } = serving;
  let control: ControlSocket | undefined;
  try {
    control = await listenControl({
      directory,
      libc: serving.udp.libc,
      log,
      sockets: () => ownSockets(serving),
      startSuccessor: (failed) => startSuccessor(directory, environment, failed),
      async *release() {
        yield* releaseSockets(serving);
        await Promise.all([thread.stop(), control?.close()]);
      },
      async end() {
        await Promise.all([tcp.finished(), tls?.finished()]);
        life.end();
      },
    });
    life.onStop(control.close);
  } catch (error) {
    log.warn({ err: error }, 'the control socket cannot be opened: a restart of this node will lose answers');
  }
}

function ownSockets({ addresses, udp: { sockets, xdp }, tcp, tls, health }: Serving): OpenSockets {
  const udp = sockets.share();
  return {
    addresses: sockets.addresses
      .map(({ port }, i) => ({
        listen: { address: (addresses[i] as ListenAddress).address, port },
        udp: udp[i] ?? [],
        tcp: tcp.descriptors[i] as number,
      }))
      .concat(tls?.sockets ?? []),
    health: descriptorOf(health.server),
    xdp: xdp?.share() ?? [],
  };
}

/** Yields the TCP connections. */
async function* releaseSockets({ udp, tcp, tls, health }: Serving): AsyncGenerator<Parcel> {
  tcp.stopAccepting();
  tls?.release();
  await Promise.all([udp.threads.release(), health.close()]);
  for await (const passed of tcp.passConnections()) {
    const text: ConnectionsText = { inputs: passed.map(({ input }) => input.toString('base64')) };
    yield { text, descriptors: passed.map(({ descriptor }) => descriptor) };
  }
}
