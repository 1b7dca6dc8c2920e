// Chooses the demo's ports: one free port on all of its loopback addresses for the nameservers, and one for the registrar.

import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { ListenAddress } from '../../process/listen-address.ts';
import { StartFault } from '../../process/start-fault.ts';
import { OUR_ADDRESSES, PLACES } from './demo-net.ts';

/** Below the range that systems use for clients. */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;
const TRIES = 50;
const REGISTRAR: ListenAddress = { address: '127.0.0.1', port: 8063 };

/** Throws StartFault. */
export async function findDnsPort(): Promise<number> {
  const addresses = [...Object.values(PLACES).flat(), ...OUR_ADDRESSES];
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    try {
      for (const address of addresses) await tryBoth({ address, port });
      return port;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'EADDRNOTAVAIL')
        throw new StartFault(
          `--demo: this machine does not have the address ${addresses[0]} (Linux machines have all of 127.0.0.0/8)`,
        );
      if (code !== 'EADDRINUSE' && code !== 'EACCES') throw new StartFault(`--demo: ${message}`);
    }
  }
  throw new StartFault(`--demo: no port from ${FIRST_PORT} to ${LAST_PORT} is free`);
}

/** Returns the usual port, which is easy to remember, or any free one. */
export async function findRegistrarAddress(): Promise<ListenAddress> {
  try {
    return { ...REGISTRAR, port: await tryTcp(REGISTRAR) };
  } catch {
    return { ...REGISTRAR, port: await tryTcp({ ...REGISTRAR, port: 0 }) };
  }
}

async function tryBoth(place: ListenAddress): Promise<void> {
  const udp = createSocket('udp4');
  try {
    udp.bind(place.port, place.address);
    await once(udp, 'listening');
  } finally {
    udp.close();
  }
  await tryTcp(place);
}

async function tryTcp({ address, port }: ListenAddress): Promise<number> {
  const server = createServer();
  server.listen(port, address);
  await once(server, 'listening');
  const { port: found } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return found;
}
