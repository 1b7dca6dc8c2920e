// The TLS servers of a node. They have one certificate, common keys for session tickets, and common limits.

import { constants, randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Server, TLSSocket, TlsOptions } from 'node:tls';
import type { TlsPair } from '../../process/tls-files.ts';
import { addressOctets } from '../answer/client.ts';
import { tcpSocketOf } from '../tcp/tcp-connection.ts';
import { networkName } from '../tcp/tcp-network.ts';
import { Handshakes } from './handshakes.ts';

/** TLS 1.3, and TLS 1.2 with ECDHE and AEAD (RFC 9325 §4.2). */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');
/** Time for a handshake. */
const HANDSHAKE_MS = 3000;
/** A stolen ticket key decrypts the sessions of this time (RFC 5077 §5.5). */
const TICKET_KEYS_MS = 12 * 3600 * 1000;
const TICKET_KEYS_OCTETS = 48;
/** Time in which a session can be resumed. */
const SESSION_SECONDS = 7200;

export class TlsServers {
  readonly handshakes = new Handshakes<Socket>();
  readonly #servers: Server[] = [];
  readonly #timer: NodeJS.Timeout;
  #pair: TlsPair;
  #ticketKeys = randomBytes(TICKET_KEYS_OCTETS);

  constructor(pair: TlsPair) {
    this.#pair = pair;
    this.#timer = setInterval(() => this.renew(this.#pair), TICKET_KEYS_MS).unref();
  }

  /** The options to create a server with. */
  get options(): TlsOptions {
    return {
      ...this.#pair,
      ciphers: CIPHERS,
      minVersion: 'TLSv1.2',
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_COMPRESSION,
      ticketKeys: this.#ticketKeys,
      sessionTimeout: SESSION_SECONDS,
      handshakeTimeout: HANDSHAKE_MS,
    };
  }

  /** Applies the common limits to a server, and renews its certificate. */
  add<S extends Server>(server: S): S {
    limitHandshakes(server, this.handshakes);
    this.#servers.push(server);
    return server;
  }

  /** Uses another certificate and other ticket keys for new connections. */
  renew(pair: TlsPair): void {
    this.#pair = pair;
    this.#ticketKeys = randomBytes(TICKET_KEYS_OCTETS);
    for (const server of this.#servers) server.setSecureContext(this.options);
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** Limits and counts the handshakes of a server. */
function limitHandshakes(server: Server, handshakes: Handshakes<Socket>): void {
  // Node's own listener starts the handshake.
  const [begin] = server.listeners('connection') as [(socket: Socket) => void];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress; // undefined if the peer has already disconnected
    if (address === undefined) return void socket.destroy();
    socket.once('close', () => handshakes.leave(socket, 'failed'));
    handshakes.enter(socket, networkName(addressOctets(address)));
    if (!socket.destroyed) begin.call(server, socket);
  });
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    handshakes.leave(tcpSocketOf(socket), 'done');
    if (socket.isSessionReused()) handshakes.resumed++;
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    handshakes.leave(tcpSocketOf(socket), error.code === 'ERR_TLS_HANDSHAKE_TIMEOUT' ? 'timeout' : 'failed');
    socket.destroy();
  });
}
