// Sends a query many times over TLS or HTTPS, with several queries in flight.

import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { framed } from '../../src/resolver/exchange/message-reader.ts';

const IN_FLIGHT = 20;

/** True if a server listens on the port of 127.0.0.1. */
export async function isListening(port: number): Promise<boolean> {
  const socket = connectTcp(port, '127.0.0.1');
  return await once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}

export async function queryOverTls(port: number, query: Uint8Array, times: number): Promise<void> {
  const socket = connectTls({ port, host: '127.0.0.1', ALPNProtocols: ['dot'], rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const message = framed(query);
  let answered = 0;
  let sent = 0;
  let received = Buffer.alloc(0);
  await new Promise<void>((resolve, reject) => {
    const sendMore = () => {
      for (; sent < times && sent - answered < IN_FLIGHT; sent++) socket.write(message);
    };
    socket.on('error', reject).on('close', () => reject(new Error('the server closed the connection')));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        received = received.subarray(2 + received.readUInt16BE(0));
        answered++;
      }
      if (answered === times) resolve();
      else sendMore();
    });
    sendMore();
  }).finally(() => socket.destroy());
}

export async function queryOverHttps(port: number, query: Uint8Array, times: number): Promise<void> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  const path = `/dns-query?dns=${Buffer.from(query).toString('base64url')}`;
  let sent = 0;
  const sendEach = async () => {
    while (sent++ < times) {
      const stream = session.request({ ':path': path });
      const [headers] = await once(stream, 'response');
      if (headers[':status'] !== 200) throw new Error(`status ${headers[':status']}`);
      await once(stream.resume(), 'end');
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, sendEach)).finally(() => session.destroy());
}
